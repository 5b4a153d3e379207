"""The programs of docs/examples run, and find what they say."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples"


def run(name, *arguments):
    command = [sys.executable, "-B", EXAMPLES / f"{name}.py", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_every_example_is_run_here():
    tested = re.findall(r'run\("(\w+)"', pathlib.Path(__file__).read_text(encoding="utf-8"))
    assert sorted(tested) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.slow
def test_hop_distances_help_a_transformer():
    pytest.importorskip("torch")
    out = run("hop_distances_for_a_graph_transformer")
    shares = {name: float(share) for name, share in re.findall(r"(with|without) hop distances +([\d.]+) %", out)}
    assert shares["with"] > shares["without"] + 10


@pytest.mark.slow
def test_a_network_learns_a_citation_network():
    pytest.importorskip("torch")
    accuracy = re.search(r"test accuracy: ([\d.]+) %", run("neighborhood_conv_on_cora", "--runs", 1))
    assert float(accuracy[1]) > 70


def test_a_sensor_network_is_denoised(tmp_path):
    pytest.importorskip("matplotlib")
    out = run("denoise_a_sensor_network", "--out", tmp_path)
    errors = {name: float(error) for name, error in re.findall(r"^([a-z ]+?) +([\d.]+)", out, re.MULTILINE)}
    assert errors["ngf"] < 0.7 * errors["as measured"]
    assert list(tmp_path.glob("*.png"))
