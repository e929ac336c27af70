#!/usr/bin/env python3
"""usage: plot_geometry.py CSV SVG

Draws the CSV of `geometry_bench --benchmark_format=csv` as one small log-log chart a benchmark: CPU time over size."""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, INNER_W, INNER_H = 900, 520, 60, 30, 360, 180


def read(path):
    series = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["error_occurred"] == "true":
                continue
            name, size = row["name"].split("/")
            series.setdefault(name, []).append((float(size), float(row["cpu_time"])))
    return series


def chart(name, points, left, top):
    low_x, high_x = points[0][0], points[-1][0]
    low_y = math.floor(math.log10(min(y for _, y in points)))
    high_y = max(low_y + 1, math.ceil(math.log10(max(y for _, y in points))))

    def place(x, y):
        return (left + INNER_W * math.log(x / low_x) / math.log(high_x / low_x),
                top + INNER_H * (1 - (math.log10(y) - low_y) / (high_y - low_y)))

    out = [f'<text x="{left}" y="{top - 8}" font-weight="bold">{name.replace("_", " ")}, ms</text>',
           f'<rect x="{left}" y="{top}" width="{INNER_W}" height="{INNER_H}" fill="none" stroke="#999"/>']
    for power in range(low_y, high_y + 1):
        y = place(low_x, 10.0 ** power)[1]
        out.append(f'<path d="M{left} {y:.1f}h{INNER_W}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** power:g}</text>')
    for x, _ in points:
        out.append(f'<text x="{place(x, 10.0 ** low_y)[0]:.1f}" y="{top + INNER_H + 16}" '
                   f'text-anchor="middle">{x:.0f}</text>')
    places = [place(x, y) for x, y in points]
    out.append('<polyline fill="none" stroke="#1f6feb" stroke-width="2" points="'
               + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')
    out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#1f6feb"/>' for x, y in places]
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for i, (name, points) in enumerate(read(sys.argv[1]).items()):
        lines += chart(name, points, LEFT + i % 2 * (INNER_W + 70), TOP + i // 2 * (INNER_H + 60))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["</svg>", ""]))


main()
