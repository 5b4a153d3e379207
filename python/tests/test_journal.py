"""A fit that was cut off goes on with its journal, and ends as if nothing had happened."""

import hashlib
import json
import subprocess
import time

import numpy as np
import pytest
from conftest import python, python_environment

pytest.importorskip("sklearn")

import ngf  # noqa: E402

RUNS = 24
FIT = """
import ngf
data = ngf.generate.citation_network(300)
model = ngf.NodeClassifier(data, epochs=150, hidden=32, threads=1, runs=RUNS, batch=1, journal=JOURNAL)
model.fit(data.split.train, data.labels[data.split.train], validation=data.split.validation)
"""


def fit(journal, **options):
    data = ngf.generate.citation_network(300)
    settings = {"epochs": 150, "hidden": 32, "threads": 1, "runs": RUNS, "batch": 1, "journal": journal, **options}
    model = ngf.NodeClassifier(data, **settings)
    return model.fit(data.split.train, data.labels[data.split.train], validation=data.split.validation)


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory):
    """The journal of a fit that was killed after some of its runs."""
    path = tmp_path_factory.mktemp("cut") / "fit.journal"
    child = subprocess.Popen(python(FIT, RUNS=RUNS, JOURNAL=str(path)), env=python_environment())
    try:
        while not path.exists() or path.read_bytes().count(b"\n") < 4:
            assert child.poll() is None, "it ended before the signal"
            time.sleep(0.002)
    finally:
        child.kill()
        child.wait()
    return path.read_bytes()


@pytest.fixture
def journal(cut_off, tmp_path):
    path = tmp_path / "fit.journal"
    path.write_bytes(cut_off)
    return path


@pytest.fixture(scope="module")
def whole():
    return fit(None)


def assert_same(model, other):
    assert model.validation_score_ == other.validation_score_ and model.best_epoch_ == other.best_epoch_
    np.testing.assert_array_equal(model.history_, other.history_)
    nodes = np.arange(300)
    np.testing.assert_array_equal(model.predict_proba(nodes), other.predict_proba(nodes))


def test_it_goes_on(journal, whole):
    assert_same(fit(journal), whole)
    assert not journal.exists()


def test_finished_runs_are_not_trained_again(journal):
    """A run whose record says that it was better than any can be is believed."""
    lines = journal.read_text().splitlines(keepends=True)
    begin, content = lines[1].rstrip("\n").split(",", 1)
    record = json.loads("{" + content)
    content = content.replace(f'"validation":{json.dumps(record["piece"]["validation"])}', '"validation":2.0')
    checksum = hashlib.sha256(content.encode()).hexdigest()[:16]
    lines[1] = f'{{"sha256":"{checksum}",{content}\n'
    assert len(lines[1]) != 0 and begin != lines[1].split(",", 1)[0]
    journal.write_text("".join(lines))
    assert fit(journal).validation_score_ == 2


def test_damaged_records_are_computed_again(journal, whole):
    content = bytearray(journal.read_bytes())
    content[content.index(b"\n") + 100] ^= 1
    journal.write_bytes(content)
    with pytest.warns(UserWarning, match=r"fit\.journal: 1 damaged record"):
        assert_same(fit(journal), whole)


@pytest.mark.parametrize("change, told", [
    (lambda content: b"X" + content[1:], "is no journal"),
    (lambda content: content.replace(b"hops", b"hobs", 1), "first line is damaged"),
    (lambda content: b"1 2\n2 3\n", "is no journal"),
])
def test_what_is_no_journal_of_this_fit(journal, change, told):
    journal.write_bytes(change(journal.read_bytes()))
    before = journal.read_bytes()
    with pytest.raises(ngf.Error, match=told) as caught:
        fit(journal)
    assert str(journal) in str(caught.value) and "\n" not in str(caught.value)
    assert journal.read_bytes() == before


@pytest.mark.parametrize("other", [{"hidden": 16}, {"random_state": 2, "epochs": 10}, {"model": "gcn"}])
def test_other_settings(journal, other):
    with pytest.raises(ngf.Error, match="other settings"):
        fit(journal, **other)


def test_no_folder(tmp_path):
    with pytest.raises(ngf.Error, match="cannot be written"):
        fit(tmp_path / "missing" / "fit.journal", runs=1)
