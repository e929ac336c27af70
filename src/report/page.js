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
  var W = 1040, H = 560, M = { top: 18, right: 172, bottom: 54, left: 64 };

  function bytes(value) {
    var units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'], u = 0;
    while (value >= 1024 && u < units.length - 1) { value /= 1024; ++u; }
    return String(Math.round(value * 100) / 100) + ' ' + units[u];
  }
  function powersOfTwo(domain, most) {
    var first = Math.ceil(Math.log2(Math.max(domain[0], 1)) - 1e-9), last = Math.floor(Math.log2(domain[1]) + 1e-9);
    var steps = [1, 2, 5, 10, 20], step = steps.find(function (s) { return (last - first) / s < most; }) || 20;
    return d3.range(Math.ceil(first / step) * step, last + 1, step).map(function (e) { return Math.pow(2, e); });
  }
  // Between powers of two, so that a deep zoom still has ticks: round numbers of the domain's own unit.
  function sizeTicks(scale, log) {
    var domain = scale.domain();
    if (log) {
      var powers = powersOfTwo(domain, 11);
      if (powers.length >= 3) return powers;
    }
    var unit = Math.pow(1024, Math.floor(Math.log2(Math.max(domain[1], 1)) / 10));
    return d3.ticks(domain[0] / unit, domain[1] / unit, 8).map(function (t) { return t * unit; });
  }
  function latencyTicks(scale, log) {
    var domain = scale.domain();
    if (!log || domain[1] / domain[0] < 4) return d3.ticks(domain[0], domain[1], 8);
    return scale.ticks(8).filter(function (t) {
      var lead = t / Math.pow(10, Math.floor(Math.log10(t) + 1e-9));
      return [1, 2, 5].some(function (k) { return Math.abs(lead - k) < 1e-6; });
    });
  }
  function spread(wanted, gap, low, high) {
    var at = wanted.slice(), i;
    for (i = 0; i < at.length; ++i) at[i] = Math.max(at[i], i ? at[i - 1] + gap : low);
    for (i = at.length - 1; i >= 0; --i) at[i] = Math.min(at[i], i + 1 < at.length ? at[i + 1] - gap : high);
    return at;
  }

  function Plot(section, plot, id) {
    var state = { xLog: true, yLog: true, ns: false, hidden: {}, transform: d3.zoomIdentity, at: null };
    var all = [];
    plot.chains.forEach(function (chain, series) {
      chain.points.forEach(function (p) {
        all.push({ series: series, chain: chain.name, bytes: p[0], cycles: p[1], low: p[2], high: p[3], ns: p[4], warmup: p[5] });
      });
    });
    all.sort(function (a, b) { return a.bytes - b.bytes || a.series - b.series; });
    var hasNs = all.every(function (p) { return p.ns !== null; });
    var canvas = d3.select(section).select('.canvas');

    var controls = d3.select(section).insert('div', '.canvas').attr('class', 'controls')
      .attr('role', 'toolbar').attr('aria-label', 'plot controls');
    function toggle(name, label, get, set, css) {
      var button = controls.append('button').attr('type', 'button').attr('data-control', name).attr('class', css || null);
      function show() { button.text(label()).attr('aria-pressed', String(get())); }
      button.on('click', function () { set(!get()); show(); draw(); });
      show();
    }
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
    [['zoom-in', '+', 'zoom in', 1.5], ['zoom-out', '\u2212', 'zoom out', 1 / 1.5]].forEach(function (b) {
      controls.append('button').attr('type', 'button').attr('data-control', b[0]).attr('aria-label', b[2]).text(b[1])
        .on('click', function () { svg.call(zoom.scaleBy, b[3]); });
    });
    controls.append('button').attr('type', 'button').attr('data-control', 'reset').text('reset').on('click', reset);
    controls.append('span').attr('class', 'hint').text('drag to pan, wheel to zoom; keys: \u2190 \u2192 read, + \u2212 zoom, shift+arrows pan, 0 reset');

    canvas.selectAll('*').remove();
    var svg = canvas.append('svg').attr('class', 'gs live').attr('viewBox', '0 0 ' + W + ' ' + H)
      .attr('tabindex', 0).attr('role', 'application')
      .attr('aria-label', 'Latency by working set, ' + plot.title + '. Arrow keys read the points.');
    svg.append('rect').attr('class', 'ground').attr('width', W).attr('height', H);
    svg.append('clipPath').attr('id', 'clip-' + id).append('rect').attr('x', M.left).attr('y', M.top)
      .attr('width', W - M.left - M.right).attr('height', H - M.top - M.bottom);
    var grid = svg.append('g');
    var inner = svg.append('g').attr('clip-path', 'url(#clip-' + id + ')');
    var bands = inner.append('g'), marks = inner.append('g'), curves = inner.append('g').attr('class', 'curves');
    var cursor = inner.append('line').attr('class', 'cursor hidden');
    var ring = inner.append('circle').attr('class', 'ring hidden').attr('r', 6);
    var xAxis = svg.append('g').attr('class', 'axis-lines x-axis').attr('transform', 'translate(0,' + (H - M.bottom) + ')');
    var yAxis = svg.append('g').attr('class', 'axis-lines y-axis').attr('transform', 'translate(' + M.left + ',0)');
    var labels = svg.append('g');
    svg.append('text').attr('class', 'ink').attr('text-anchor', 'middle').attr('x', (M.left + W - M.right) / 2)
      .attr('y', H - 12).text('working set');
    var yTitle = svg.append('text').attr('class', 'ink').attr('text-anchor', 'middle')
      .attr('transform', 'translate(16 ' + (M.top + H - M.bottom) / 2 + ') rotate(-90)');
    var readout = d3.select(section).insert('p', '.numbers').attr('class', 'readout').attr('role', 'status')
      .attr('aria-live', 'polite').text('Point at the curve, or focus it and use the arrow keys.');

    var zoom = d3.zoom().scaleExtent([1, 200])
      .extent([[M.left, M.top], [W - M.right, H - M.bottom]])
      .translateExtent([[M.left, M.top], [W - M.right, H - M.bottom]])
      .on('zoom', function () { state.transform = d3.event.transform; draw(); });
    svg.call(zoom).on('dblclick.zoom', null);
    function reset() { state.transform = d3.zoomIdentity; svg.call(zoom.transform, d3.zoomIdentity); }

    function value(p) { return state.ns ? p.ns : p.cycles; }
    function factor(p) { return state.ns ? p.ns / p.cycles : 1; }
    function nsPerCycle() { return state.ns && all.length ? factor(all[0]) : 1; }

    function scales() {
      var xs = d3.extent(all, function (p) { return p.bytes; });
      var low = d3.min(all, value), high = d3.max(all, function (p) { return p.high * factor(p); });
      var x = (state.xLog ? d3.scaleLog().base(2).domain([xs[0] / 1.12, xs[1] * 1.12]) : d3.scaleLinear().domain([0, xs[1] * 1.03]))
        .range([M.left, W - M.right]);
      var y = (state.yLog ? d3.scaleLog().domain([Math.min(low, high / 2) / 1.25, high * 1.2]) : d3.scaleLinear().domain([0, high * 1.1]))
        .range([H - M.bottom, M.top]);
      return { x: state.transform.rescaleX(x), y: state.transform.rescaleY(y) };
    }

    function visible() { return all.filter(function (p) { return !state.hidden[p.series]; }); }

    function draw() {
      var s = scales(), x = s.x, y = s.y, left = M.left, right = W - M.right, k = nsPerCycle();
      var unit = state.ns ? 'ns' : 'cyc';
      yTitle.text(state.ns ? 'nanoseconds a load' : 'cycles a load');
      xAxis.call(d3.axisBottom(x).tickValues(sizeTicks(x, state.xLog)).tickFormat(bytes).tickSizeOuter(0));
      yAxis.call(d3.axisLeft(y).tickValues(latencyTicks(y, state.yLog)).tickFormat(function (t) { return String(+t.toPrecision(5)); }).tickSizeOuter(0));
      var rows = grid.selectAll('line').data(latencyTicks(y, state.yLog));
      rows.exit().remove();
      rows.enter().append('line').attr('class', 'grid').merge(rows)
        .attr('x1', left).attr('x2', right).attr('y1', y).attr('y2', y);

      bands.selectAll('*').remove();
      var order = ['l1', 'l2', 'l2.far', 'dram'];
      plot.levels.forEach(function (level) {
        var at = order.indexOf(level.name), from = x(level.first_bytes), to = x(level.last_bytes);
        bands.append('rect').attr('class', 'b' + (at < 0 ? 4 : at)).attr('x', from).attr('width', Math.max(to - from, 0))
          .attr('y', M.top).attr('height', H - M.top - M.bottom);
        if (to - from > 7.2 * level.title.length + 6 && from >= left && to <= right)
          bands.append('text').attr('class', 'soft strong').attr('text-anchor', 'middle').attr('x', (from + to) / 2).attr('y', M.top + 18).text(level.title);
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
        marks.append('line').attr('class', n.css).attr('x1', n.x).attr('x2', n.x).attr('y1', M.top).attr('y2', H - M.bottom);
      });
      notes.forEach(function (n) {
        var width = 7.2 * n.text.length + 16, back = n.x + width > right;
        var from = back ? n.x - width : n.x, to = from + width, row = 0;
        while (taken.some(function (t) { return t[0] === row && from < t[2] && t[1] < to; })) ++row;
        taken.push([row, from, to]);
        var text = marks.append('text').attr('class', n.textCss + ' halo').attr('text-anchor', back ? 'end' : 'start')
          .attr('x', back ? n.x - 6 : n.x + 6).attr('y', H - M.bottom - 10 - 17 * row).text(n.text);
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
        return at >= M.top && at <= H - M.bottom && x(level.last_bytes) >= left && x(level.first_bytes) <= right;
      }).sort(function (a, b) { return b.cycles - a.cycles; });
      var wanted = shown.map(function (level) { return y(level.cycles * k); });
      var placed = spread(wanted, 36, M.top + 10, H - M.bottom - 12);
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
      cursor.classed('hidden', false).attr('x1', s.x(p.bytes)).attr('x2', s.x(p.bytes)).attr('y1', M.top).attr('y2', H - M.bottom);
      ring.classed('hidden', false).attr('cx', s.x(p.bytes)).attr('cy', s.y(value(p)));
      var same = visible().filter(function (q) { return q.bytes === p.bytes; });
      readout.text(bytes(p.bytes) + ' (' + p.bytes + ' B): ' + same.map(function (q) {
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
    svg.on('mousemove', function () {
      var at = d3.mouse(this), p = nearest(at[0], at[1]);
      if (p) show(p);
    }).on('keydown', function () {
      var event = d3.event, key = event.key, points = visible(), handled = true;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      var arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      if (event.shiftKey && arrows[key]) {
        var step = 60 / state.transform.k;
        svg.call(zoom.translateBy, arrows[key][0] * step, arrows[key][1] * step);
      } else if (key === 'ArrowLeft' || key === 'ArrowRight') {
        var i = points.indexOf(state.at);
        i = i < 0 ? 0 : i + (key === 'ArrowRight' ? 1 : -1);
        if (points.length) show(points[Math.max(0, Math.min(points.length - 1, i))]);
      } else if (key === '+' || key === '=') svg.call(zoom.scaleBy, 1.5);
      else if (key === '-') svg.call(zoom.scaleBy, 1 / 1.5);
      else if (key === '0') reset();
      else handled = false;
      if (handled) event.preventDefault();
    });
    draw();
  }

  data.plots.forEach(function (plot, i) {
    var section = document.querySelector('section.plot[data-plot="' + i + '"]');
    if (section) Plot(section, plot, i);
  });
  document.documentElement.setAttribute('data-ready', 'true');
})();
