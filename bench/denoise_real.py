#!/usr/bin/python3
"""Denoising of real signals with noise added: speeds of METR-LA and temperatures of Molene.

Each row of the answer is one way to denoise, with the mean squared error of what it returns as a share of the
noise's: below 1 is a gain. Two tasks a data set: the signals as measured, and the same values randomly permuted
over the nodes, which leaves no structure to find: there a denoiser should do no harm.

    bench/denoise_real.py [--signals 20] [--epochs 300]

METR-LA: 207 sensors, Gaussian kernel weights; speeds in miles an hour at times spread over a week; noise of
5 mph. A speed of 0 is a sensor that says nothing: missing, in the noisy and in the clean signal.
Molene: 37 stations, 5 nearest neighbours, weights exp(-(distance / mean distance)^2); temperatures in kelvin at
hours spread over January 2014; noise of 1 K.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("NGF_DATA", ROOT.parent / "shared" / "data"))


def write_graph(path, edges):
    path.write_text("".join(f"{u} {v} {w:.9g}\n" for u, v, w in edges))


def metr_la(folder):
    """Writes the graph; speeds of all times, one column per time, and the noise that is added to them."""
    weights = numpy.loadtxt(DATA / "metr-la" / "los_adj.csv", delimiter=",")
    edges = [(u, v, weights[u, v]) for u in range(len(weights)) for v in range(u) if weights[u, v] > 0]
    # The isolated sensor keeps its number.
    write_graph(folder / "metr-la.edgelist", edges)
    speeds = numpy.loadtxt(DATA / "metr-la" / "los_speed.csv", delimiter=",", skiprows=1)
    speeds[speeds == 0] = numpy.nan
    return speeds.T, 5.0


def molene(folder):
    """The same for temperatures."""
    lines = [line.split() for line in (DATA / "molene" / "knn5.edgelist").read_text().splitlines()
             if line and line[0] not in "#%"]
    edges = [(int(u), int(v), float(w)) for u, v, w in lines]
    mean = numpy.mean([w for _, _, w in edges])
    write_graph(folder / "molene.edgelist", [(u, v, numpy.exp(-((w / mean) ** 2))) for u, v, w in edges])
    return numpy.loadtxt(DATA / "molene" / "temperature_K.csv", delimiter=","), 1.0


def ways(noise):
    """(name, flags) of each way to denoise."""
    for arch in ["ngf", "gf"]:
        yield f"{arch}, blind, level given", ["--arch", arch, "--noise-level", str(noise)]
        for rule in ["oracle", "blind", "sure", "variance", "epochs:100"]:
            yield f"{arch}, {rule}", ["--arch", arch, "--stop", rule]
    yield "tikhonov", ["--arch", "tikhonov"]
    yield "median", ["--arch", "median"]


def denoise(program, folder, name, flags, noise, epochs):
    """The mean squared error of each signal, as a share of the noise's; and what ngf says."""
    output = subprocess.run(
        [program, "denoise", folder / f"{name.split(',')[0]}.edgelist", "--signal", folder / "noisy.npy", "--clean",
         folder / "clean.npy", "-o", folder / "out.npy", "--epochs", str(epochs), "--json", "--quiet", *flags],
        check=True, stdout=subprocess.PIPE, text=True)
    clean, found = numpy.load(folder / "clean.npy"), numpy.load(folder / "out.npy")
    errors = numpy.nanmean((found - clean) ** 2, axis=0) / noise**2
    return errors, json.loads(output.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--signals", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--flags", default="", help="further flags of ngf denoise, separated by blanks")
    parser.add_argument("--only", default="", help="ways whose names hold this text")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="ngf-denoise-real-") as name:
        folder = pathlib.Path(name)
        random = numpy.random.default_rng(1)
        for data, read in {"metr-la": metr_la, "molene": molene}.items():
            measured, noise = read(folder)
            measured = measured[:, numpy.linspace(0, measured.shape[1] - 1, arguments.signals).astype(int)]
            for task, clean in {"": measured, ", permuted": random.permuted(measured, axis=0)}.items():
                numpy.save(folder / "clean.npy", clean)
                numpy.save(folder / "noisy.npy", clean + noise * random.normal(size=clean.shape))
                for way, flags in ways(noise):
                    if arguments.only not in way or (task and "oracle" in way):
                        continue
                    errors, told = denoise(arguments.build / "ngf", folder, data + task,
                                           flags + arguments.flags.split(), noise, arguments.epochs)
                    row = {"data": data + task, "way": way, "median": float(numpy.median(errors)),
                           "worst": float(errors.max()), "epoch": float(numpy.median(told["epochs"])),
                           "left_alone": sum(told["left_alone"]),
                           "explained": float(numpy.median(told.get("explained", 0)))}
                    rows.append(row)
                    print(f"{row['data']:22} {way:23} of noise: median {row['median']:.3f}, worst {row['worst']:.3f}, "
                          f"epoch {row['epoch']:.0f}, left alone {row['left_alone']}, explained {row['explained']:.2f}", flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
