// The live plot of a TLB sweep: a line a stride, over the working set or over the number of nodes. The
// table of what translation adds is drawn likewise, over nodes alone, with what was predicted dashed.
window.gpusondePage.sweep = function (section, sweep, id) {
  'use strict';
  var d3 = window.d3, page = window.gpusondePage, bytes = page.bytes;
  var state = { by: sweep.added ? 'nodes' : 'bytes', yLog: !sweep.added, ns: false, hidden: {}, at: null };
  // Colour and marker go by the order of the named lines; the others are grey.
  var styles = 0;
  var lines = sweep.lines.map(function (line, series) {
    return {
      series: series, style: line.named ? styles++ : 7, label: bytes(line.stride_bytes), named: line.named, steps: line.steps,
      predicted: line.predicted.map(function (p) { return { nodes: p[0], bytes: p[0] * line.stride_bytes, cycles: p[1] }; }),
      points: line.points.map(function (p) {
        return { series: series, nodes: p[0], bytes: p[1], cycles: p[2], low: p[3], high: p[4], ns: p[5] };
      })
    };
  });
  var all = d3.merge(lines.map(function (line) { return line.points; }));
  var hasNs = all.every(function (p) { return p.ns !== null; });
  var what = sweep.added ? 'Cycles added by translation' : 'Latency by working set and stride';
  var frame = page.frame(section, id, what + ', ' + sweep.title + '. Arrow keys read the points.', '');
  var left = frame.left, right = frame.right, top = frame.top, bottom = frame.bottom;

  function colour(line) { return 's' + line.style % 8; }
  // The same five markers as in the static figure.
  var shapes = [[d3.symbolCircle, 0], [d3.symbolDiamond, 0], [d3.symbolSquare, 0], [d3.symbolTriangle, 0], [d3.symbolTriangle, 180]];
  function marker(group, line, x, y, size) {
    var shape = shapes[line.style % 5];
    return group.append('path').attr('class', colour(line) + ' dot').attr('d', d3.symbol().type(shape[0]).size(size)())
      .attr('transform', 'translate(' + x + ' ' + y + ') rotate(' + shape[1] + ')');
  }

  if (!sweep.added) {
    var group = frame.controls.append('span').attr('class', 'switch').attr('role', 'radiogroup').attr('aria-label', 'horizontal axis');
    [['bytes', 'working set'], ['nodes', 'nodes']].forEach(function (axis) {
      var label = group.append('label');
      label.append('input').attr('type', 'radio').attr('name', 'axis-' + id).attr('value', axis[0]).attr('data-control', 'by-' + axis[0])
        .property('checked', state.by === axis[0]).on('change', function () { state.by = axis[0]; frame.reset(); });
      label.append('span').text(axis[1]);
    });
  }
  frame.toggle('y-log', function () { return (sweep.added ? 'cycles: ' : 'latency: ') + (state.yLog ? 'log' : 'linear'); },
    function () { return state.yLog; }, function (v) { state.yLog = v; frame.reset(); });
  if (hasNs) frame.toggle('unit', function () { return state.ns ? 'ns' : 'cycles'; },
    function () { return state.ns; }, function (v) { state.ns = v; });
  if (lines.length > 1) lines.forEach(function (line) {
    frame.toggle('line-' + line.series, function () { return line.label; },
      function () { return !state.hidden[line.series]; }, function (v) { state.hidden[line.series] = !v; }, 'key' + line.style % 8 + ' shape' + line.style % 5);
  });

  function value(p) { return state.ns ? p.ns : p.cycles; }
  function factor(p) { return state.ns && p.cycles ? p.ns / p.cycles : 1; }
  function at(p) { return p[state.by]; }
  function shown() { return lines.filter(function (line) { return !state.hidden[line.series]; }); }

  function scales() {
    var xs = d3.extent(all, at);
    var low = d3.min(all, function (p) { return p.low * factor(p); }), high = d3.max(all, function (p) { return p.high * factor(p); });
    var x = d3.scaleLog().base(2).domain([xs[0] / 1.12, xs[1] * 1.12]).range([left, right]);
    var least = state.yLog ? Math.max(low, high / 1e4) : low;  // what is not positive has no place on a logarithmic axis
    var y = (state.yLog ? d3.scaleLog().domain([Math.min(least, high / 2) / 1.25, high * 1.2])
      : d3.scaleLinear().domain([Math.min(0, low * 1.1), Math.max(high, 1) * 1.1])).range([bottom, top]);
    return { x: frame.transform.rescaleX(x), y: frame.transform.rescaleY(y) };
  }

  function nodesText(n) { return n + (n === 1 ? ' node' : ' nodes'); }
  function countText(n) { return n < 1e6 || n % 1048576 ? String(n) : bytes(n).replace('B', ''); }  // 1 Mi
  function countTicks(scale) {
    var powers = page.powersOfTwo(scale.domain(), 14);
    return powers.length >= 3 ? powers : scale.ticks(8).filter(function (t) { return t === Math.round(t); });
  }

  function drawCurve(line, x, y) {
    var floor = y.domain()[0];
    function up(v) { return y(state.yLog ? Math.max(v, floor) : v); }
    var curve = frame.curves.append('g').attr('class', 'series').attr('data-stride', line.label);
    var path = d3.line().x(function (p) { return x(at(p)); }).y(function (p) { return up(value(p)); });
    if (line.named) curve.append('path').attr('class', colour(line) + ' range')
      .attr('d', d3.area().x(function (p) { return x(at(p)); })
        .y0(function (p) { return up(p.low * factor(p)); }).y1(function (p) { return up(p.high * factor(p)); })(line.points));
    curve.append('path').attr('class', colour(line) + ' curve' + (line.named ? '' : ' thin')).attr('d', path(line.points));
    if (line.predicted.length) curve.append('path').attr('class', colour(line) + ' predicted').attr('d', path(line.predicted));
    line.points.forEach(function (p) {
      marker(curve, line, x(at(p)), up(value(p)), line.named ? 16 : 5).classed('point', true);
    });
  }

  // By nodes a step is at the same place for many strides and is said once, at the bottom; by bytes each
  // has its text below its ring.
  function drawSteps(x, y) {
    var taken = [], common = {}, written = [];
    function write(text, px, py, rows, up) {
      var upon = written.some(function (w) { return Math.abs(w[0] - px) < 6 && Math.abs(w[1] - py) < 6; });
      written.push([px, py]);
      if (upon) return;
      var width = 7.2 * text.length + 12, back = px + width > right, from = back ? px - width : px;
      for (var row = 0; row < rows; ++row) {
        var base = py + 17 * row * (up ? -1 : 1), box = [from, from + width, base - 12, base + 4];
        var clash = taken.some(function (t) { return box[0] < t[1] && t[0] < box[1] && box[2] < t[3] && t[2] < box[3]; });
        if (clash || base > bottom - 4) continue;
        taken.push(box);
        frame.over.append('text').attr('class', 'steptext halo').attr('text-anchor', back ? 'end' : 'start')
          .attr('x', back ? px - 5 : px + 5).attr('y', base).text(text);
        return;
      }
    }
    frame.over.selectAll('*').remove();
    frame.marks.selectAll('*').remove();
    shown().filter(function (line) { return line.named; }).forEach(function (line) {
      line.steps.forEach(function (step) {
        var p = line.points[step.last], px = x(at(p)), py = y(value(p));
        if (px < left || px > right || py < top || py > bottom) return;
        frame.over.append('circle').attr('class', 'knee').attr('r', 5).attr('cx', px).attr('cy', py);
        if (state.by === 'bytes') write(bytes(p.bytes), px, py + 18, 4, false);
        else (common[p.nodes] = common[p.nodes] || { nodes: p.nodes, px: px, lines: 0 }).lines++;
      });
    });
    Object.keys(common).map(function (key) { return common[key]; }).sort(function (a, b) { return b.lines - a.lines; }).forEach(function (c) {
      frame.marks.append('line').attr('class', 'step').attr('x1', c.px).attr('x2', c.px).attr('y1', top).attr('y2', bottom);
      write(String(c.nodes), c.px, bottom - 10, 4, true);
    });
  }

  function drawLabels(x, y) {
    frame.labels.selectAll('*').remove();
    var ends = shown().filter(function (line) { return line.named; }).map(function (line) {
      var inside = line.points.filter(function (p) { return x(at(p)) >= left && x(at(p)) <= right; });
      var last = inside[inside.length - 1];
      return { line: line, px: last ? x(at(last)) : 0, py: last ? y(value(last)) : -1 };
    }).filter(function (end) { return end.py >= top && end.py <= bottom; }).sort(function (a, b) { return a.py - b.py; });
    var placed = page.spread(ends.map(function (end) { return end.py; }), 17, top + 6, bottom - 6);
    ends.forEach(function (end, i) {
      frame.labels.append('line').attr('class', 'guide').attr('x1', end.px + 5).attr('x2', right).attr('y1', end.py).attr('y2', end.py);
      frame.labels.append('line').attr('class', 'guide').attr('x1', right).attr('x2', right + 12).attr('y1', end.py).attr('y2', placed[i]);
      marker(frame.labels, end.line, right + 20, placed[i], 36);
      frame.labels.append('text').attr('class', 'ink strong line-name').attr('x', right + 31).attr('y', placed[i] + 4).text(end.line.label);
    });
    if (ends.length) frame.labels.append('text').attr('class', 'soft').attr('x', right + 13).attr('y', placed[0] - 14).text('stride');
  }

  function draw() {
    var s = scales(), x = s.x, y = s.y, byBytes = state.by === 'bytes';
    frame.xTitle.text(sweep.added ? 'nodes' : byBytes ? 'working set: nodes \u00d7 stride' : 'nodes: working set / stride');
    frame.yTitle.text(sweep.added ? 'cycles added to a load' : state.ns ? 'nanoseconds a load' : 'cycles a load');
    frame.axes(x, y, byBytes ? page.sizeTicks(x, true) : countTicks(x), page.latencyTicks(y, state.yLog), byBytes ? bytes : countText);
    frame.curves.selectAll('*').remove();
    [false, true].forEach(function (named) {
      shown().reverse().filter(function (line) { return line.named === named; }).forEach(function (line) { drawCurve(line, x, y); });
    });
    drawSteps(x, y);
    drawLabels(x, y);
    if (state.at) show(state.at);
  }

  function show(p) {
    state.at = p;
    var s = scales(), range = p.low === p.high ? '' : ' [' + p.low.toFixed(1) + ', ' + p.high.toFixed(1) + ']';
    frame.point(s.x(at(p)), s.y(value(p)));
    frame.readout.text('stride ' + lines[p.series].label + ', ' + nodesText(p.nodes) + (sweep.added ? '' : ', ' + bytes(p.bytes)) + ': ' +
      p.cycles.toFixed(2) + ' cycles' + range + (p.ns === null ? '' : ' = ' + p.ns.toFixed(2) + ' ns'));
  }
  function nearest(px, py) {
    var s = scales(), best = null, least = Infinity;
    shown().forEach(function (line) {
      line.points.forEach(function (p) {
        var dx = s.x(at(p)) - px, dy = s.y(value(p)) - py, distance = dx * dx + dy * dy;
        if (distance < least) { least = distance; best = p; }
      });
    });
    return best;
  }
  // Left and right along the line, up and down to the next stride at the same place.
  function move(aside, up) {
    var choice = shown();
    if (!choice.length) return true;
    var line = choice.findIndex(function (l) { return state.at && l.series === state.at.series; });
    if (line < 0) { show(choice[0].points[0]); return true; }
    var points = choice[line].points, i = points.indexOf(state.at);
    if (!up) { show(points[Math.max(0, Math.min(points.length - 1, i + aside))]); return true; }
    var next = choice[Math.max(0, Math.min(choice.length - 1, line + up))], wanted = Math.log(at(state.at));
    show(next.points[d3.scan(next.points, function (a, b) {
      return Math.abs(Math.log(at(a)) - wanted) - Math.abs(Math.log(at(b)) - wanted);
    })]);
    return true;
  }
  frame.start({ draw: draw, show: show, nearest: nearest, move: move });
};
