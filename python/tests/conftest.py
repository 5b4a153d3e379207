"""What the tests of the package share: random graphs, references, data sets, and runs of Python apart.

    NGF_PROGRAM   the program [build/ngf]
    NGF_DATA      the folder of data sets [../shared/data, beside the checkout]
"""

import os
import pathlib
import subprocess
import sys

os.environ["MPLBACKEND"] = "Agg"

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from scipy.sparse import csgraph  # noqa: E402

import ngf  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("NGF_PROGRAM", ROOT / "build" / "ngf"))
DATA = pathlib.Path(os.environ.get("NGF_DATA", ROOT.parent / "shared" / "data")).resolve()
KARATE = "builtin:karate"


@pytest.fixture
def data_folder(monkeypatch):
    if not DATA.is_dir():
        pytest.skip(f"no data sets in {DATA}; NGF_DATA names them")
    monkeypatch.setenv("NGF_DATA", str(DATA))
    return DATA


@pytest.fixture
def program():
    if not PROGRAM.is_file():
        pytest.skip(f"no program {PROGRAM}; NGF_PROGRAM names it")
    return PROGRAM


def random_matrix(nodes, degree=3.0, directed=False, weighted=False, seed=1):
    """A random graph without self-loops, with about that many neighbours a node, as a SciPy array."""
    random = np.random.default_rng(seed)
    count = int(degree * nodes / (1 if directed else 2))
    ends = random.integers(0, max(nodes, 1), (2, count))
    ends = ends[:, ends[0] != ends[1]]
    if not directed:
        ends = np.concatenate([ends, ends[::-1]], axis=1)
    matrix = sp.csr_array((np.ones(ends.shape[1]), tuple(ends)), shape=(nodes, nodes))
    matrix.data[:] = 1
    if weighted:
        matrix.data[:] = random.uniform(0.5, 2, matrix.nnz)
        if not directed:
            matrix = sp.csr_array(matrix + matrix.T)
    return matrix


def scipy_hops(matrix):
    """Hops of all pairs by SciPy; those without a path are infinite."""
    if matrix.shape[0] == 0:
        return np.zeros((0, 0))
    return csgraph.shortest_path(sp.csr_matrix(matrix), unweighted=True)


def edge_index_of(matrix):
    entries = sp.coo_array(matrix)
    return np.stack([entries.row, entries.col]).astype(np.int64)


def address(array):
    return array.__array_interface__["data"][0]


def python(script, **variables):
    """The command that runs a script in a Python of its own, with this package; variables come before it."""
    values = "".join(f"{name} = {value!r}\n" for name, value in variables.items())
    return [sys.executable, "-c", values + script]


def python_environment():
    package = str(pathlib.Path(ngf.__file__).parent.parent)
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def run_command(command):
    """What a command prints. It must end well."""
    done = subprocess.run(command, env=python_environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


def run_python(script, **variables):
    """What a script prints."""
    return run_command(python(script, **variables))


def run_python_file(folder, script, **variables):
    """What a script prints that its child processes import, as those of multiprocessing's "spawn" do."""
    path = folder / "script.py"
    path.write_text(python(script, **variables)[-1], encoding="utf-8")
    return run_command([sys.executable, str(path)])
