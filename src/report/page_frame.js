// What the live plots share: sizes as text, ticks, and the frame of a plot with its controls, axes, zoom,
// keyboard and readout. Without d3 there is none, and the static figures stay.
window.gpusondePage = (function () {
  'use strict';
  var d3 = window.d3;
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

  // The frame of one plot. Controls are added with toggle(), in the order they stand in; start() adds those
  // that every plot has and begins. `plot` has draw(), and show() of a point, nearest() to a pixel, and
  // move() by the arrow keys, which says whether it took the key.
  function frame(section, id, label, xTitle) {
    var canvas = d3.select(section).select('.canvas'), plot = null;
    var f = { left: M.left, right: W - M.right, top: M.top, bottom: H - M.bottom, transform: d3.zoomIdentity };
    var controls = f.controls = d3.select(section).insert('div', '.canvas').attr('class', 'controls')
      .attr('role', 'toolbar').attr('aria-label', 'plot controls');

    canvas.selectAll('*').remove();
    var svg = canvas.append('svg').attr('class', 'gs live').attr('viewBox', '0 0 ' + W + ' ' + H)
      .attr('tabindex', 0).attr('role', 'application').attr('aria-label', label);
    svg.append('rect').attr('class', 'ground').attr('width', W).attr('height', H);
    svg.append('clipPath').attr('id', 'clip-' + id).append('rect').attr('x', f.left).attr('y', f.top)
      .attr('width', f.right - f.left).attr('height', f.bottom - f.top);
    var grid = svg.append('g');
    var inner = svg.append('g').attr('clip-path', 'url(#clip-' + id + ')');
    f.bands = inner.append('g');
    f.marks = inner.append('g');
    f.curves = inner.append('g').attr('class', 'curves');
    f.over = inner.append('g');
    var cursor = inner.append('line').attr('class', 'cursor hidden');
    var ring = inner.append('circle').attr('class', 'ring hidden').attr('r', 6);
    var xAxis = svg.append('g').attr('class', 'axis-lines x-axis').attr('transform', 'translate(0,' + f.bottom + ')');
    var yAxis = svg.append('g').attr('class', 'axis-lines y-axis').attr('transform', 'translate(' + f.left + ',0)');
    f.labels = svg.append('g');
    f.xTitle = svg.append('text').attr('class', 'ink x-title').attr('text-anchor', 'middle')
      .attr('x', (f.left + f.right) / 2).attr('y', H - 12).text(xTitle);
    f.yTitle = svg.append('text').attr('class', 'ink').attr('text-anchor', 'middle')
      .attr('transform', 'translate(16 ' + (f.top + f.bottom) / 2 + ') rotate(-90)');
    f.readout = d3.select(section).insert('p', '.numbers').attr('class', 'readout').attr('role', 'status')
      .attr('aria-live', 'polite').text('Point at the curve, or focus it and use the arrow keys.');

    var zoom = d3.zoom().scaleExtent([1, 200])
      .extent([[f.left, f.top], [f.right, f.bottom]])
      .translateExtent([[f.left, f.top], [f.right, f.bottom]])
      .on('zoom', function () { f.transform = d3.event.transform; if (plot) plot.draw(); });
    svg.call(zoom).on('dblclick.zoom', null);
    f.reset = function () { f.transform = d3.zoomIdentity; svg.call(zoom.transform, d3.zoomIdentity); };

    f.toggle = function (name, text, get, set, css) {
      var button = controls.append('button').attr('type', 'button').attr('data-control', name).attr('class', css || null);
      function show() { button.text(text()).attr('aria-pressed', String(get())); }
      button.on('click', function () { set(!get()); show(); plot.draw(); });
      show();
      return button;
    };
    f.axes = function (x, y, xTicks, yTicks, xFormat) {
      xAxis.call(d3.axisBottom(x).tickValues(xTicks).tickFormat(xFormat).tickSizeOuter(0));
      yAxis.call(d3.axisLeft(y).tickValues(yTicks).tickFormat(function (t) { return String(+t.toPrecision(5)); }).tickSizeOuter(0));
      var rows = grid.selectAll('line').data(yTicks);
      rows.exit().remove();
      rows.enter().append('line').attr('class', 'grid').merge(rows)
        .attr('x1', f.left).attr('x2', f.right).attr('y1', y).attr('y2', y);
    };
    // The dashed line and the ring of the point that is read.
    f.point = function (x, y) {
      cursor.classed('hidden', false).attr('x1', x).attr('x2', x).attr('y1', f.top).attr('y2', f.bottom);
      ring.classed('hidden', false).attr('cx', x).attr('cy', y);
    };
    f.start = function (of) {
      plot = of;
      [['zoom-in', '+', 'zoom in', 1.5], ['zoom-out', '\u2212', 'zoom out', 1 / 1.5]].forEach(function (b) {
        controls.append('button').attr('type', 'button').attr('data-control', b[0]).attr('aria-label', b[2]).text(b[1])
          .on('click', function () { svg.call(zoom.scaleBy, b[3]); });
      });
      controls.append('button').attr('type', 'button').attr('data-control', 'reset').text('reset').on('click', f.reset);
      controls.append('span').attr('class', 'hint').text('drag to pan, wheel to zoom; keys: \u2190 \u2192 read, + \u2212 zoom, shift+arrows pan, 0 reset');
      svg.on('mousemove', function () {
        var at = d3.mouse(this), p = plot.nearest(at[0], at[1]);
        if (p) plot.show(p);
      }).on('keydown', function () {
        var event = d3.event, key = event.key, handled = true;
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        var arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
        if (event.shiftKey && arrows[key]) {
          var step = 60 / f.transform.k;
          svg.call(zoom.translateBy, arrows[key][0] * step, arrows[key][1] * step);
        } else if (arrows[key]) handled = plot.move(-arrows[key][0], arrows[key][1]);
        else if (key === '+' || key === '=') svg.call(zoom.scaleBy, 1.5);
        else if (key === '-') svg.call(zoom.scaleBy, 1 / 1.5);
        else if (key === '0') f.reset();
        else handled = false;
        if (handled) event.preventDefault();
      });
      plot.draw();
    };
    return f;
  }

  return { bytes: bytes, powersOfTwo: powersOfTwo, sizeTicks: sizeTicks, latencyTicks: latencyTicks, spread: spread, frame: frame };
})();
