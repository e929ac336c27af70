// Turns each static figure into a plot that can be zoomed, panned, read by pointer or keyboard, and
// switched between logarithmic and linear axes. Without d3 the static figures stay.
(function () {
  'use strict';

  // A link to a table opens it first: a folded one has nothing to jump to.
  function openTarget() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (var node = target; node; node = node.parentElement) if (node.tagName === 'DETAILS') node.open = true;
    if (target) target.scrollIntoView();
  }
  window.addEventListener('hashchange', openTarget);
  openTarget();

  var d3 = window.d3;
  if (!d3) return;
  var data = JSON.parse(document.getElementById('page-data').textContent);
  var page = window.gpusondePage, bytes = page.bytes;

  function Plot(section, plot, id) {
    var state = { xLog: true, yLog: true, ns: false, hidden: {}, at: null };
    var all = [];
    plot.chains.forEach(function (chain, series) {
      chain.points.forEach(function (p) {
        all.push({ series: series, chain: chain.name, bytes: p[0], cycles: p[1], low: p[2], high: p[3], ns: p[4], warmup: p[5] });
      });
    });
    all.sort(function (a, b) { return a.bytes - b.bytes || a.series - b.series; });
    var hasNs = all.every(function (p) { return p.ns !== null; });
    var frame = page.frame(section, id, 'Latency by working set, ' + plot.title + '. Arrow keys read the points.', 'working set');
    var toggle = frame.toggle, reset = frame.reset, left = frame.left, right = frame.right, top = frame.top, bottom = frame.bottom;
    var bands = frame.bands, marks = frame.marks, curves = frame.curves, labels = frame.labels;
    toggle('x-log', function () { return 'size: ' + (state.xLog ? 'log' : 'linear'); },
      function () { return state.xLog; }, function (v) { state.xLog = v; reset(); });
    toggle('y-log', function () { return 'latency: ' + (state.yLog ? 'log' : 'linear'); },
      function () { return state.yLog; }, function (v) { state.yLog = v; reset(); });
    if (hasNs) toggle('unit', function () { return state.ns ? 'ns' : 'cycles'; },
      function () { return state.ns; }, function (v) { state.ns = v; });
    if (plot.chains.length > 1) plot.chains.forEach(function (chain, series) {
      toggle('chain-' + series, function () { return chain.name + ' chain'; },
        function () { return !state.hidden[series]; }, function (v) { state.hidden[series] = !v; }, 'key' + series % 4);
    });

    function value(p) { return state.ns ? p.ns : p.cycles; }
    function factor(p) { return state.ns ? p.ns / p.cycles : 1; }
    function nsPerCycle() { return state.ns && all.length ? factor(all[0]) : 1; }

    function scales() {
      var xs = d3.extent(all, function (p) { return p.bytes; });
      var low = d3.min(all, value), high = d3.max(all, function (p) { return p.high * factor(p); });
      var x = (state.xLog ? d3.scaleLog().base(2).domain([xs[0] / 1.12, xs[1] * 1.12]) : d3.scaleLinear().domain([0, xs[1] * 1.03]))
        .range([left, right]);
      var y = (state.yLog ? d3.scaleLog().domain([Math.min(low, high / 2) / 1.25, high * 1.2]) : d3.scaleLinear().domain([0, high * 1.1]))
        .range([bottom, top]);
      return { x: frame.transform.rescaleX(x), y: frame.transform.rescaleY(y) };
    }

    function visible() { return all.filter(function (p) { return !state.hidden[p.series]; }); }

    function draw() {
      var s = scales(), x = s.x, y = s.y, k = nsPerCycle();
      var unit = state.ns ? 'ns' : 'cyc';
      frame.yTitle.text(state.ns ? 'nanoseconds a load' : 'cycles a load');
      frame.axes(x, y, page.sizeTicks(x, state.xLog), page.latencyTicks(y, state.yLog), bytes);

      bands.selectAll('*').remove();
      var order = ['l1', 'l2', 'l2.far', 'dram'];
      plot.levels.forEach(function (level) {
        var at = order.indexOf(level.name), from = x(level.first_bytes), to = x(level.last_bytes);
        bands.append('rect').attr('class', 'b' + (at < 0 ? 4 : at)).attr('x', from).attr('width', Math.max(to - from, 0))
          .attr('y', top).attr('height', bottom - top);
        if (to - from > 7.2 * level.title.length + 6 && from >= left && to <= right)
          bands.append('text').attr('class', 'soft strong').attr('text-anchor', 'middle').attr('x', (from + to) / 2).attr('y', top + 18).text(level.title);
        bands.append('line').attr('class', 'plateau').attr('x1', from).attr('x2', to)
          .attr('y1', y(level.cycles * k)).attr('y2', y(level.cycles * k));
      });

      marks.selectAll('*').remove();
      var notes = plot.capacities.map(function (c) { return { at: c.bytes, css: 'edge', text: bytes(c.bytes), textCss: 'ink strong' }; })
        .concat(plot.steps.map(function (step) {
          return { at: Math.sqrt(step.from_bytes * step.to_bytes), css: 'step', textCss: 'steptext', title: step.note,
            text: (step.translation ? 'translation' : 'unattributed') + ' step +' + (step.rise_cycles * k).toFixed(1) + ' ' + unit };
        })).map(function (n) { n.x = x(n.at); return n; })
        .filter(function (n) { return n.x >= left && n.x <= right; }).sort(function (a, b) { return a.x - b.x; });
      var taken = [];
      notes.forEach(function (n) {
        marks.append('line').attr('class', n.css).attr('x1', n.x).attr('x2', n.x).attr('y1', top).attr('y2', bottom);
      });
      notes.forEach(function (n) {
        var width = 7.2 * n.text.length + 16, back = n.x + width > right;
        var from = back ? n.x - width : n.x, to = from + width, row = 0;
        while (taken.some(function (t) { return t[0] === row && from < t[2] && t[1] < to; })) ++row;
        taken.push([row, from, to]);
        var text = marks.append('text').attr('class', n.textCss + ' halo').attr('text-anchor', back ? 'end' : 'start')
          .attr('x', back ? n.x - 6 : n.x + 6).attr('y', bottom - 10 - 17 * row).text(n.text);
        if (n.title) text.append('title').text(n.title);
      });

      curves.selectAll('*').remove();
      plot.chains.forEach(function (chain, series) {
        if (state.hidden[series]) return;
        var points = all.filter(function (p) { return p.series === series; });
        var group = curves.append('g').attr('class', 'series').attr('data-chain', chain.name);
        group.append('path').datum(points).attr('class', 's' + series % 4 + ' range')
          .attr('d', d3.area().x(function (p) { return x(p.bytes); })
            .y0(function (p) { return y(Math.max(p.low * factor(p), y.domain()[0] > 0 ? y.domain()[0] : 0)); })
            .y1(function (p) { return y(p.high * factor(p)); }));
        group.append('path').datum(points).attr('class', 's' + series % 4 + ' curve')
          .attr('d', d3.line().x(function (p) { return x(p.bytes); }).y(function (p) { return y(value(p)); }));
        group.selectAll('.dot').data(points).enter().append('circle').attr('class', 's' + series % 4 + ' dot')
          .attr('r', 2.4).attr('cx', function (p) { return x(p.bytes); }).attr('cy', function (p) { return y(value(p)); });
      });

      labels.selectAll('*').remove();
      var shown = plot.levels.filter(function (level) {
        var at = y(level.cycles * k);
        return at >= top && at <= bottom && x(level.last_bytes) >= left && x(level.first_bytes) <= right;
      }).sort(function (a, b) { return b.cycles - a.cycles; });
      var wanted = shown.map(function (level) { return y(level.cycles * k); });
      var placed = page.spread(wanted, 36, top + 10, bottom - 12);
      shown.forEach(function (level, i) {
        labels.append('line').attr('class', 'guide').attr('x1', Math.max(left, Math.min(right, x(level.last_bytes)))).attr('x2', right)
          .attr('y1', wanted[i]).attr('y2', wanted[i]);
        labels.append('line').attr('class', 'guide').attr('x1', right).attr('x2', right + 10).attr('y1', wanted[i]).attr('y2', placed[i]);
        labels.append('text').attr('class', 'ink strong level-name').attr('x', right + 14).attr('y', placed[i] - 2).text(level.title);
        labels.append('text').attr('class', 'soft').attr('x', right + 14).attr('y', placed[i] + 14)
          .text(level.cycles.toFixed(1) + ' cyc' + (level.ns ? ' \u00b7 ' + level.ns.toFixed(1) + ' ns' : ''));
      });
      if (state.at) show(state.at);
    }

    function show(p) {
      state.at = p;
      var s = scales();
      frame.point(s.x(p.bytes), s.y(value(p)));
      var same = visible().filter(function (q) { return q.bytes === p.bytes; });
      frame.readout.text(bytes(p.bytes) + ' (' + p.bytes + ' B): ' + same.map(function (q) {
        var range = q.low === q.high ? '' : ' [' + q.low.toFixed(1) + ', ' + q.high.toFixed(1) + ']';
        return (plot.chains.length > 1 ? q.chain + ' ' : '') + q.cycles.toFixed(2) + ' cycles' + range +
          (q.ns === null ? '' : ' = ' + q.ns.toFixed(2) + ' ns') + (q.warmup ? ', ' + q.warmup + ' warm-up' : '');
      }).join('; '));
    }
    function nearest(px, py) {
      var s = scales(), best = null, least = Infinity;
      visible().forEach(function (p) {
        var dx = s.x(p.bytes) - px, dy = (s.y(value(p)) - py) * 0.3, distance = dx * dx + dy * dy;
        if (distance < least) { least = distance; best = p; }
      });
      return best;
    }
    function move(right, up) {
      if (up) return false;
      var points = visible(), i = points.indexOf(state.at);
      i = i < 0 ? 0 : i + right;
      if (points.length) show(points[Math.max(0, Math.min(points.length - 1, i))]);
      return true;
    }
    frame.start({ draw: draw, show: show, nearest: nearest, move: move });
  }

  data.plots.forEach(function (plot, i) {
    var section = document.querySelector('section.plot[data-plot="' + i + '"]');
    if (section) Plot(section, plot, i);
  });
  data.sweeps.forEach(function (sweep, i) {
    var section = document.querySelector('section.plot[data-sweep="' + i + '"]');
    if (section) page.sweep(section, sweep, 'sweep-' + i);
  });
  document.documentElement.setAttribute('data-ready', 'true');
})();
