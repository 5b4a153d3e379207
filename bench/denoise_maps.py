#!/usr/bin/python3
"""The maps of docs/denoising.md: measured signals with noise added, denoised, and as they were measured.

    bench/denoise_maps.py [--build build] [--out docs/pictures]

METR-LA: speeds at 17:00 of the second day, with noise of 10 mph. Molene: temperatures on 15 January 2014 at 12:00,
with noise of 1 K. The graphs are those of denoise_real.py, and `ngf denoise` knows the noise level. Of nine draws of
the noise, a picture shows the one with the median error. stopping-metr-la.svg has the error and the criterion of the
stopping rule for the same signal.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import tempfile

import numpy

from denoise_real import DATA, ROOT, metr_la, molene

WIDTH = 540
LEGEND = (270, 150)
MARGIN = 14
HEADING = 26
DRAWS = 9
COLOURS = numpy.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])  # viridis
STYLE = """text{font-family:system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-size:17px;fill:#222}
.h{font-weight:600}.e{stroke:#ccc;stroke-width:.7;fill:none}.v circle{stroke:#888;stroke-width:.4}
.r{fill:none;stroke:#d1005b;stroke-width:1.6}
.p{fill:#fff}
@media (prefers-color-scheme:dark){text{fill:#ddd}.p{fill:#16181c}.e{stroke:#444}.r{stroke:#ff5c9d}}"""


def places_of_sensors():
    with (DATA / "metr-la" / "graph_sensor_locations.csv").open() as lines:
        rows = [(float(row["longitude"]), float(row["latitude"])) for row in csv.DictReader(lines)]
    places = numpy.array(rows)
    places[:, 0] *= numpy.cos(numpy.radians(places[:, 1].mean()))
    return places


def places_of_stations():
    with (DATA / "molene" / "stations.csv").open() as lines:
        rows = [(float(row["x_webmercator"]), float(row["y_webmercator"])) for row in csv.DictReader(lines)]
    return numpy.array(rows)


PICTURES = {
    "metr-la": {
        "title": "Speeds at 207 sensors in Los Angeles", "what": "sensors", "unit": "mph", "shift": 0,
        "read": metr_la, "places": places_of_sensors, "time": (24 + 17) * 12, "noise": 10,
        "columns": 1, "radius": 4.5,
    },
    "molene": {
        "title": "Temperatures at 37 stations in Brittany", "what": "stations", "unit": "°C", "shift": -273.15,
        "read": molene, "places": places_of_stations, "time": 14 * 24 + 12, "noise": 1,
        "columns": 2, "radius": 7,
    },
}


def run(program, folder, name, noisy, noise, *flags):
    numpy.save(folder / "noisy.npy", noisy[:, None])
    command = [program.resolve(), "denoise", f"{name}.edgelist", "--signal", "noisy.npy", "-o", "out.npy",
               "--noise-level", str(noise), "--epochs", "300", "--quiet", *flags]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def denoised(program, folder, name, noisy, noise):
    run(program, folder, name, noisy, noise)
    return numpy.load(folder / "out.npy").ravel()


def charts_by_epoch(program, folder, name, noisy, noise, clean):
    """The error and the criterion by epoch: what --plot draws, without the signal in the order of the nodes."""
    numpy.save(folder / "clean.npy", clean[:, None])
    run(program, folder, name, noisy, noise, "--clean", "clean.npy", "--plot", "plot.svg")
    text = (folder / "plot.svg").read_text(encoding="utf-8")
    last = text.rindex('<g class="chart"')
    height = re.search(r'translate\(0 (\d+)\)', text[last:])[1]
    total = re.search(r'viewBox="0 0 \d+ (\d+)"', text)[1]
    return text[:last].replace(total, height).replace("; the signal</title>", "</title>") + "</svg>\n"


def error(signal, clean):
    """Root mean squared, over the sensors whose true value is known."""
    return float(numpy.sqrt(numpy.nanmean((signal - clean) ** 2)))


def median_draw(program, folder, name, clean, noise):
    """The noisy and the denoised signal of the draw whose denoised signal has the median error."""
    pairs = []
    for seed in range(1, DRAWS + 1):
        noisy = clean + noise * numpy.random.default_rng(seed).normal(size=clean.shape)
        pairs.append((noisy, denoised(program, folder, name, noisy, noise)))
    return sorted(pairs, key=lambda pair: error(pair[1], clean))[DRAWS // 2]


def colour(share):
    at = numpy.clip(share, 0, 1) * (len(COLOURS) - 1)
    below = min(int(at), len(COLOURS) - 2)
    mixed = COLOURS[below] + (at - below) * (COLOURS[below + 1] - COLOURS[below])
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def fitted(places, width):
    """Positions in a map of this width, y downwards, and its height."""
    low, high = places.min(axis=0), places.max(axis=0)
    scale = (width - 2 * MARGIN) / (high - low)[0]
    at = (places - low) * scale
    height = (high - low)[1] * scale
    return numpy.stack([at[:, 0] + MARGIN, height - at[:, 1] + HEADING + MARGIN], axis=1), height + HEADING + 2 * MARGIN


def draw_map(heading, at, colours, off, radius):
    nodes = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}"/>\n'
                    for (x, y), fill in zip(at, colours))
    rings = "".join(f'<circle class="r" cx="{x:.1f}" cy="{y:.1f}" r="{radius + 2}"/>\n' for x, y in at[off])
    text = f'<text class="h" x="{MARGIN}" y="20">{heading}</text>'
    return f'{text}\n<use href="#e"/>\n<g class="v">\n{nodes}</g>\n{rings}'


def draw_legend(low, high, unit, lines):
    stops = "".join(f'<stop offset="{share}" stop-color="{colour(share)}"/>' for share in (0, .25, .5, .75, 1))
    length = LEGEND[0] - 2 * MARGIN
    parts = [f'<defs><linearGradient id="g">{stops}</linearGradient></defs>',
             f'<rect x="{MARGIN}" y="10" width="{length}" height="16" fill="url(#g)"/>']
    for share, anchor in ((0, "start"), (.5, "middle"), (1, "end")):
        x = MARGIN + share * length
        text = f"{low + share * (high - low):.0f}" + (f" {unit}" if share == 1 else "")
        parts.append(f'<text x="{x:.0f}" y="46" text-anchor="{anchor}">{text}</text>')
    parts.append(f'<circle class="r" cx="{MARGIN + 7}" cy="70" r="6"/>')
    parts += [f'<text x="{MARGIN + (22 if i == 0 else 0)}" y="{76 + 24 * i}">{line}</text>'
              for i, line in enumerate(lines)]
    return "\n".join(parts)


def describe(picture, signals):
    """The sensors whose error exceeds the noise level in each signal, and lines that count them."""
    clean, noise = signals["true"], picture["noise"]
    off = {name: numpy.abs(signal - clean) > noise for name, signal in signals.items()}
    unit = picture["unit"].replace("°C", "K")
    counts = [f"{name}: {off[name].sum()} of {len(clean)} {picture['what']}" for name in ("noisy", "denoised")]
    before, after = (error(signals[name], clean) for name in ("noisy", "denoised"))
    errors = f"RMS error: {before:.3g}, {after:.3g} {unit}"
    return off, [f"off by more than {noise} {unit}", *counts, errors]


def draw(picture, edges, signals):
    """Three maps with one colour scale, and its legend."""
    columns = picture["columns"]
    at, height = fitted(picture["places"](), WIDTH // columns)
    low, high = numpy.floor(numpy.nanmin(signals["true"])), numpy.ceil(numpy.nanmax(signals["true"]))
    off, lines = describe(picture, signals)
    of_edges = "".join(f"M{at[u][0]:.0f} {at[u][1]:.0f}L{at[v][0]:.0f} {at[v][1]:.0f}" for u, v in edges)
    parts = [f'<defs><path id="e" class="e" d="{of_edges}"/></defs>']
    for i, (name, signal) in enumerate(signals.items()):
        colours = [colour((value - low) / (high - low)) if numpy.isfinite(value) else "none" for value in signal]
        panel = draw_map(name, at, colours, off[name], picture["radius"])
        x, y = i % columns * WIDTH // columns, i // columns * height
        parts.append(f'<g transform="translate({x} {y:.0f})">\n{panel}</g>')
    x, y = (WIDTH // 2, height) if columns == 2 else (0, 3 * height)
    parts.append(f'<g transform="translate({x} {y + 10:.0f})">\n{draw_legend(low, high, picture["unit"], lines)}\n</g>')
    total = 2 * height if columns == 2 else 3 * height + LEGEND[1] + 20
    print(picture["title"], *lines, sep="\n  ")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total:.0f}" width="{WIDTH}" role="img">\n'
            f'<title>{picture["title"]}: noisy, denoised, and true</title>\n<style>{STYLE}</style>\n'
            f'<rect class="p" width="100%" height="100%"/>\n' + "\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/pictures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ngf-denoise-maps-") as temporary:
        folder = pathlib.Path(temporary)
        for name, picture in PICTURES.items():
            measured, _ = picture["read"](folder)
            clean = measured[:, picture["time"]]
            noisy, found = median_draw(arguments.build / "ngf", folder, name, clean, picture["noise"])
            if name == "metr-la":
                charts = charts_by_epoch(arguments.build / "ngf", folder, name, noisy, picture["noise"], clean)
                (arguments.out / "stopping-metr-la.svg").write_text(charts, encoding="utf-8")
            lines = (folder / f"{name}.edgelist").read_text().splitlines()
            edges = [tuple(map(int, line.split()[:2])) for line in lines]
            signals = {"noisy": noisy, "denoised": found, "true": clean}
            signals = {key: signal + picture["shift"] for key, signal in signals.items()}
            (arguments.out / f"denoise-{name}.svg").write_text(draw(picture, edges, signals), encoding="utf-8")


if __name__ == "__main__":
    main()
