"""Denoise a sensor network, and fill in missing values.

Sensors at random positions are connected to the sensors within range. The signal is smooth over the map; each sensor
adds independent noise, and some have no value (NaN). The program compares three methods on five such maps: a network of
neighbourhood filters, fitted to this one signal and stopped early; Tikhonov smoothing; and the median of neighbours,
which is hard to beat on maps as smooth as these.

    python denoise_a_sensor_network.py --out pictures
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree

import ngf

MAPS = 5
SENSORS = 300
RANGE = 0.11  # radius of the neighbourhood, on a map of 1 x 1
NOISE = 0.4  # standard deviation
SILENT = 0.1  # share of sensors without a value
WAYS = ("ngf", "tikhonov", "median")


def sensor_network(random) -> tuple[np.ndarray, ngf.Graph]:
    """Positions, and the graph that connects sensors within range of each other."""
    places = random.random((SENSORS, 2))
    pairs = cKDTree(places).query_pairs(RANGE, output_type="ndarray")
    return places, ngf.from_edge_index(pairs.T, SENSORS, directed=False)


def temperature(places: np.ndarray) -> np.ndarray:
    """A warm hill, a cold valley, and a linear trend from west to east."""
    x, y = places.T
    hill = 2 * np.exp(-((x - 0.3) ** 2 + (y - 0.7) ** 2) / 0.04)
    valley = 2 * np.exp(-((x - 0.7) ** 2 + (y - 0.3) ** 2) / 0.03)
    return hill - valley + x


def error(found: np.ndarray, clean: np.ndarray, where: np.ndarray) -> float:
    """Root mean squared error over some sensors."""
    return float(np.sqrt(np.mean((found - clean)[where] ** 2)))


def draw(graph, places, signals: dict, path: Path):
    """Draw signals side by side, with the same colour scale."""
    low, high = min(map(np.nanmin, signals.values())), max(map(np.nanmax, signals.values()))
    figure, axes = plt.subplots(1, len(signals), figsize=(15, 4.5), layout="constrained")
    for ax, (title, signal) in zip(axes, signals.items()):
        ngf.plot.signal(graph, signal, positions=places, ax=ax)
        ax.collections[-1].set_clim(low, high)
        ax.set_title(title)
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for denoise_a_sensor_network.png [.]")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "denoise_a_sensor_network.png"

    errors = {way: [] for way in ("as measured", *WAYS)}
    for seed in range(1, MAPS + 1):
        random = np.random.default_rng(seed)
        places, graph = sensor_network(random)
        clean = temperature(places)
        noisy = clean + NOISE * random.normal(size=SENSORS)
        silent = random.random(SENSORS) < SILENT
        noisy[silent] = np.nan

        found = {way: ngf.Denoiser(graph, arch=way, noise_level=NOISE).fit_transform(noisy) for way in WAYS}
        for way, signal in {"as measured": noisy, **found}.items():
            errors[way].append([error(signal, clean, ~silent), error(signal, clean, silent)])
        if seed == 1:
            draw(graph, places, {"clean": clean, "measured": noisy, "denoised": found["ngf"]}, picture)

    print(f"error, mean of {MAPS} maps, at sensors that")
    print(f"{'':14}{'speak':>8}{'are silent':>12}")
    for way, pairs in errors.items():
        speak, are_silent = np.mean(pairs, axis=0)
        print(f"{way:14}{speak:8.2f}{'-' if np.isnan(are_silent) else format(are_silent, '.2f'):>12}")
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
