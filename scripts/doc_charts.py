"""Charts of measured numbers as SVG, for scripts/doc-tables. Each function takes a file of docs/results/, as read."""

import html
import math
import re

WIDTH = 540
# Colours that people with colour blindness can tell apart: that of ngf, then those of the others.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#b8609a", "#a07800"]
STYLE = """text{font-family:system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-size:14px;fill:#222;stroke:#fff;stroke-width:4;
paint-order:stroke}.h{font-weight:600}.n{font-size:13px;fill:#555}.p{fill:#fff}.g{stroke:#ddd}.r{stroke:#555;stroke-dasharray:5 4}
@media (prefers-color-scheme:dark){text{fill:#ddd;stroke:#16181c}.n{fill:#aaa}.p{fill:#16181c}.g{stroke:#444}.r{stroke:#aaa}}"""
HIGHEST = 150  # the end of the axis of ratios
UNITS = {"ms": 1e-3, "s": 1}


def seconds(cell):
    """The time that a cell of a table begins with."""
    value, unit = re.match(r"([\d.]+) (m?s)\b", cell).groups()
    return float(value) * UNITS[unit]


def duration(value):
    for unit, size in UNITS.items():
        if value < 999.5 * size:
            break
    return f"{value / size:.3g} {unit}"


def text(x, y, content, anchor="start", name=""):
    style = f' class="{name}"' if name else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{html.escape(content)}</text>'


def line(x1, y1, x2, y2, name):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{name}"/>'


def dot(x, y, series):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[series]}"/>'


def picture(title, height, parts):
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', f"<title>{html.escape(title)}</title>", f"<style>{STYLE}</style>",
                      '<rect class="p" width="100%" height="100%"/>', text(10, 22, title, name="h"), *parts,
                      "</svg>", ""])


def legend(names, y):
    """`names` has pairs of the number of a series and its name."""
    parts, x = [], 15
    for series, name in names:
        parts += [dot(x, y - 5, series), text(x + 10, y, name)]
        x += 36 + 8 * len(name)
    return parts


def times(title, names, rows):
    """Rows of times on one logarithmic axis: a label, and its (seconds, series, text), shortest first."""
    left, right, top, step = 90, WIDTH - 145, 62, 50
    values = [value for _, points in rows for value, _, _ in points]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    bottom = top + step * len(rows)

    def place(value):
        return left + (right - left) * (math.log10(value) - low) / (high - low)

    parts = legend(names, 46)
    for decade in range(low, high + 1):
        x = place(10.0 ** decade)
        parts += [line(x, top, x, bottom, "g"), text(x, bottom + 18, duration(10.0 ** decade), "middle", "n")]
    for row, (label, points) in enumerate(rows):
        y = top + step * row + 36
        parts += [text(10, y - 18, label), line(place(points[0][0]), y, place(points[-1][0]), y, "g")]
        for index, (value, series, shown) in reversed(list(enumerate(points))):
            parts.append(dot(place(value), y, series))
            parts.append(text(place(value) + (9 if index else -9), y + 5, shown, "start" if index else "end", "n"))
    return picture(title, bottom + 30, parts)


def hop_distances(result):
    rows = []
    for graph, *cells in result["rows"]:
        points = [(seconds(cell), series, cell) for cell, series in zip(cells, (1, 2, 0))]
        rows.append((graph, sorted(points)))
    peer, one, two = result["columns"][1:]
    return times("Time for the hop distances of all pairs", [(0, two), (2, one), (1, peer)], rows)


def speed(rows):
    """`rows` has the task, the name of the other program, the seconds of ngf, and the ratio as text."""
    return times("Time of ngf (2 threads) and of other programs", [(0, "ngf"), (1, "other program")],
                 [(f"{task}: {peer}", [(own, 0, duration(own)), (own * float(ratio), 1, f"{ratio} times as long")])
                  for task, peer, own, ratio in rows])


def busy_machine(result):
    """Bars: by how much a busy core slows down each command."""
    ideal, left, right, top, step = 4 / 3, 10, WIDTH - 70, 62, 44
    bottom = top + step * len(result["rows"])
    scale = (right - left) / max(float(row[-1]) for row in result["rows"])
    x = left + scale * ideal
    parts = [line(x, top - 8, x, bottom, "r"), text(x, 46, f"both cores used perfectly: {ideal:.2f}", "middle", "n")]
    for row, (label, _, _, ratio) in enumerate(result["rows"]):
        y = top + step * row
        width = scale * float(ratio)
        parts += [text(left, y + 16, label.replace("`", "")),
                  f'<rect x="{left}" y="{y + 22}" width="{width:.1f}" height="14" fill="{COLOURS[0]}"/>',
                  text(left + width + 8, y + 34, ratio, name="n")]
    return picture("Time on a busy machine, divided by that on a quiet one", bottom + 12, parts)


def panel(left, top, width, height, libraries, columns):
    """One graph and one number of taps: the ratio of each library by the number of columns, both logarithmic."""
    def place(index, ratio):
        return left + 14 + index * (width - 28) / (len(columns) - 1), top + height * (1 - math.log(ratio, HIGHEST))

    parts = []
    for ratio in (10, 100):
        _, y = place(0, ratio)
        parts.append(line(left, y, left + width, y, "g"))
    parts.append(f'<line x1="{left}" y1="{top + height}" x2="{left + width}" y2="{top + height}" stroke="{COLOURS[0]}" '
                 'stroke-width="3"/>')
    for series, ratios in enumerate(libraries, 1):
        points = [place(index, float(ratio)) for index, ratio in enumerate(ratios) if ratio]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[series]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[series]}"/>' for x, y in points]
    return parts


def filter_products(result):
    """Panels: graphs from left to right, numbers of taps from top to bottom."""
    names = result["columns"][2:-1]
    cells = {}
    for label, _, *ratios, _ in result["rows"]:
        graph, taps, columns = re.fullmatch(r"(\w+) (\d+), (\d+)", label).groups()
        cells.setdefault(taps, {}).setdefault(graph, {})[columns] = ratios
    left, top, width, height, gap = 92, 92, 138, 110, 10
    parts = legend(enumerate(["ngf", *names]), 46)
    for row, (taps, graphs) in enumerate(cells.items()):
        y = top + row * (height + gap)
        parts += [text(10, y + height / 2 + 5, f"K = {taps}", name="h")]
        parts += [text(left - 4, y + height * (1 - math.log(tick, HIGHEST)) + 5, str(tick), "end", "n")
                  for tick in (1, 10, 100)]
        for column, (graph, rows) in enumerate(graphs.items()):
            x = left + column * (width + gap)
            if row == 0:
                parts.append(text(x + width / 2, top - 12, graph, "middle", "h"))
            parts += panel(x, y, width, height, zip(*rows.values()), list(rows))
    bottom = top + len(cells) * (height + gap)
    for column in range(len(graphs)):
        for index, count in enumerate(rows):
            x = left + column * (width + gap) + 14 + index * (width - 28) / (len(rows) - 1)
            parts.append(text(x, bottom + 8, count, "middle", "n"))
    parts.append(text(left + 1.5 * width + gap, bottom + 28, "columns F of the signals", "middle", "n"))
    return picture("Time of other libraries, divided by that of ngf", bottom + 40, parts)
