#!/usr/bin/env python3
"""How much longer commands take on a machine that another program keeps busy.

    bench/busy_bench.py [--build FOLDER] [--before PROGRAM] [--repeat N]

Each row is one command of `ngf` with its defaults, timed from start to end: by itself, then beside a program that
spins on one core. Results are compared first: both runs must write identical bytes. With two cores, a program that used
both perfectly would take 4/3 of its time beside another; a row fails above 2.5. `--before` names another build of the
program, whose quiet times are printed beside. Real graphs come from $NGF_DATA or ../shared/data; where these are
absent, synthetic graphs stand in, and the rows say so.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 2.5


def data_folder() -> str | None:
    for folder in (os.environ.get("NGF_DATA"), ROOT.parent / "shared/data"):
        if folder and (pathlib.Path(folder) / "planetoid").is_dir():
            return os.fspath(folder)
    return None


def rows(folder: str | None, scratch: pathlib.Path) -> list[tuple[str, list[str]]]:
    """Name, and what follows `ngf`. OUT stands for the file to write."""
    if folder:
        cora, pubmed, nodes = "planetoid:cora", "planetoid:pubmed", 2708
        data = ["--data", folder]
    else:
        cora, pubmed, nodes = "builtin:citation,nodes=2708", "ba:nodes=20000,m=2", 2708
        data = []
    random = np.random.default_rng(1)
    np.save(scratch / "wide.npy", random.normal(size=(nodes, 512)).astype(np.float32))
    np.save(scratch / "few.npy", random.normal(size=(nodes, 8)))
    wide, few = os.fspath(scratch / "wide.npy"), os.fspath(scratch / "few.npy")
    return [
        ("shells: all hops", ["shells", pubmed, "--hops", "all", "--storage", "dense", "--json"] + data),
        ("shells: 3 hops, lists", ["shells", pubmed, "--hops", "3", "--storage", "sparse", "--json"] + data),
        ("filter: 5 taps, 512 columns", ["filter", cora, "--signal", wide, "--taps", "1,.5,.25,.1,.05", "-o", "OUT"] + data),
        ("filter: polynomial", ["filter", cora, "--signal", wide, "--kind", "polynomial", "--taps", "1,.5,.25,.1,.05",
                                "-o", "OUT"] + data),
        ("train: one network", ["train", cora, "-o", "OUT.safetensors"] + data),
        ("train: ten networks", ["train", cora, "--runs", "10", "--epochs", "60", "-o", "OUT.safetensors"] + data),
        ("denoise: 8 signals", ["denoise", cora, "--signal", few, "--epochs", "100", "-o", "OUT"] + data),
        ("denoise: Tikhonov", ["denoise", cora, "--signal", few, "--arch", "tikhonov", "-o", "OUT"] + data),
    ]


@contextlib.contextmanager
def busy():
    """A program that keeps one core busy."""
    spinning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    time.sleep(0.2)
    try:
        yield
    finally:
        spinning.kill()
        spinning.wait()


def run(program: str, words: list[str], scratch: pathlib.Path) -> tuple[float, bytes]:
    """Seconds, and what was written."""
    out = scratch / ("out.safetensors" if "OUT.safetensors" in words else "out.npy")
    command = [program] + [os.fspath(out) if word.startswith("OUT") else word for word in words]
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    written = out.read_bytes() if out.exists() else b""
    out.unlink(missing_ok=True)
    return seconds, written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--before", help="another ngf, to compare quiet times with")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    program = os.fspath(arguments.build / "ngf")
    folder = data_folder()
    print(f"{'Real graphs' if folder else 'Synthetic graphs (no data sets here)'}; {os.cpu_count()} cores; median of "
          f"{arguments.repeat} runs; seconds of the whole command\n")
    print(f"{'':30}{'quiet':>8}{'busy':>8}{'ratio':>7}" + (f"{'before':>8}{'now/before':>12}" if arguments.before else ""))
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for row, words in rows(folder, scratch):
            run(program, words, scratch)
            quiet, before, other = [], [], []
            for _ in range(arguments.repeat):  # in turns, so that what disturbs the machine disturbs both
                seconds, expected = run(program, words, scratch)
                quiet.append(seconds)
                if arguments.before:
                    before.append(run(arguments.before, words, scratch)[0])
            with busy():
                for _ in range(arguments.repeat):
                    seconds, written = run(program, words, scratch)
                    if written != expected:
                        sys.exit(f"{row}: another result beside a busy program")
                    other.append(seconds)
            ratio = statistics.median(other) / statistics.median(quiet)
            worst = max(worst, ratio)
            line = f"{row:30}{statistics.median(quiet):8.3f}{statistics.median(other):8.3f}{ratio:6.2f}x"
            if before:
                line += f"{statistics.median(before):8.3f}{statistics.median(quiet) / statistics.median(before):11.2f}x"
            print(line, flush=True)
    print(f"\nworst ratio {worst:.2f}x, limit {LIMIT}x")
    sys.exit(worst > LIMIT)


if __name__ == "__main__":
    main()
