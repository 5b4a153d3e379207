"""Files and data sets."""

import pickle
import resource
import subprocess
import warnings

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import KARATE, address, random_matrix

import ngf


def test_karate():
    data = ngf.load_dataset(KARATE)
    assert data.graph.nodes == 34 and data.features is None
    assert sorted(set(data.labels.tolist())) == [0, 1] and data.splits == []
    assert repr(data) == "Dataset(nodes=34, edges=78, features=0, classes=2, splits=0)"
    with pytest.raises(ValueError, match="no split"):
        data.split


def test_citations():
    data = ngf.generate.citation_network(200, seed=3)
    assert data.graph.nodes == len(data.labels) == data.features.shape[0] == 200
    assert isinstance(data.features, sp.csr_array) and data.features.dtype == np.float32
    train, validation, test = data.split
    assert data.split.train is train and len(data.splits) == 1
    assert not set(train) & set(validation) and not set(train) & set(test) and not set(validation) & set(test)
    assert data.labels[train].min() >= 0
    same = ngf.load_dataset("builtin:citation,nodes=200,seed=3")
    assert same.graph == data.graph and (same.features != data.features).nnz == 0


def test_arrays_are_the_engines_own():
    data = ngf.generate.citation_network(100)
    arrays = [data.features.data, data.labels, *data.split, data.graph.targets]
    assert all(not array.flags.owndata for array in arrays)
    assert all(not array.flags.writeable for array in arrays)
    assert address(data.graph.targets) == address(data.graph.targets)


def test_data_sets_can_be_pickled():
    for data in [ngf.generate.citation_network(100), ngf.load_dataset(KARATE)]:
        again = pickle.loads(pickle.dumps(data))
        assert again.graph == data.graph and repr(again) == repr(data)
        np.testing.assert_array_equal(again.labels, data.labels)
        assert len(again.splits) == len(data.splits)
        for own, others in zip(again.splits, data.splits):
            assert own._fields == ("train", "validation", "test")
            np.testing.assert_array_equal(own.test, others.test)


@pytest.mark.parametrize("name", ["graph.mtx", "graph.npy", "graph.npz", "graph.txt", "graph.csv", "graph.edgelist"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_written_is_read_again(tmp_path, name, directed, weighted):
    graph = ngf.as_graph(random_matrix(40, 1.5, directed, weighted))
    path = tmp_path / name
    assert ngf.write_graph(path, graph) is None
    assert ngf.read_graph(path, directed=directed) == graph
    assert ngf.as_graph(path, directed=directed) == graph
    assert ngf.load_dataset(str(path), directed=directed).graph == graph


def test_metis(tmp_path):
    graph = ngf.as_graph(random_matrix(40))
    ngf.write_graph(tmp_path / "graph.graph", graph)
    assert ngf.read_graph(tmp_path / "graph.graph") == graph
    with pytest.raises(ngf.Error, match="METIS"):
        ngf.write_graph(tmp_path / "arcs.graph", random_matrix(40, directed=True))
    assert not (tmp_path / "arcs.graph").exists()


def test_anything_can_be_written(tmp_path):
    matrix = random_matrix(20)
    for kind in [matrix, matrix.toarray(), ngf.as_graph(matrix)]:
        ngf.write_graph(tmp_path / "graph.mtx", kind)
        assert ngf.read_graph(tmp_path / "graph.mtx") == ngf.as_graph(matrix)
    ngf.write_graph(tmp_path / "arcs.txt", [[0, 1], [0, 0]], directed=False)
    assert ngf.read_graph(tmp_path / "arcs.txt").edges == 1


def test_files_of_scipy_and_numpy(tmp_path):
    matrix = random_matrix(30, weighted=True)
    expected = ngf.as_graph(matrix)
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_matrix(matrix), precision=17)
    sp.save_npz(tmp_path / "b.npz", sp.csr_matrix(matrix))
    np.save(tmp_path / "c.npy", matrix.toarray())
    for name in ["a.mtx", "b.npz", "c.npy"]:
        assert ngf.read_graph(tmp_path / name) == expected
    ngf.write_graph(tmp_path / "d.mtx", expected)
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / "d.mtx").toarray(), matrix.toarray())
    ngf.write_graph(tmp_path / "e.npz", expected)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "e.npz").toarray(), matrix.toarray())


def test_what_is_lost_is_told(tmp_path):
    """As a warning that points at the caller."""
    (tmp_path / "graph.txt").write_text("0 1 2.0 7\n1 2 3.0 8\n")
    for read in [ngf.read_graph, ngf.load_dataset, ngf.as_graph]:
        with pytest.warns(UserWarning, match="columns") as told:
            read(tmp_path / "graph.txt")
        assert {warning.filename for warning in told} == {__file__}
        assert str(told[0].message).startswith(f"{tmp_path / 'graph.txt'}: columns")
    (tmp_path / "plain.txt").write_text("0 1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ngf.read_graph(tmp_path / "plain.txt")


def test_names_that_are_not_ascii(tmp_path):
    path = tmp_path / "graphe-été.txt"
    ngf.write_graph(path, KARATE)
    assert ngf.read_graph(path) == ngf.read_graph(str(path)) == ngf.as_graph(KARATE)


def test_lenient_reads_what_contradicts_itself(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array([[0, 3.0, 0], [2, 0, 1], [0, 1, 0]]))
    with pytest.raises(ngf.Error, match="edge 0-1 has two weights, 3 and 2"):
        ngf.read_graph(path)
    for read in [ngf.read_graph, lambda path, **how: ngf.load_dataset(path, **how).graph]:
        with pytest.warns(UserWarning, match="the largest weight is kept"):
            graph = read(path, lenient=True)
        np.testing.assert_array_equal(ngf.to_scipy(graph).toarray(), [[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    assert ngf.read_graph(path, directed=True).arcs == 4
    with pytest.raises(ValueError, match="lenient"):
        ngf.read_graph(path, lenient="yes")


def test_named_data_sets_are_compared_with_their_checksums(tmp_path, data_folder):
    for path in (data_folder / "planetoid").glob("ind.cora.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    features = bytearray((tmp_path / "ind.cora.allx").read_bytes())
    features[features.index(b"\0\0\x80\x3f")] = 1
    (tmp_path / "ind.cora.allx").write_bytes(features)
    with pytest.raises(ngf.Error, match="ind.cora.allx.*ngf data get planetoid:cora"):
        ngf.load_dataset("planetoid:cora", data=tmp_path)
    with pytest.warns(UserWarning, match="SHA-256"):
        assert ngf.load_dataset("planetoid:cora", data=tmp_path, lenient=True).graph.nodes == 2708


def test_where_data_sets_are_looked_for(tmp_path, data_folder, monkeypatch):
    monkeypatch.delenv("NGF_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ngf.Error, match="cora"):
        ngf.load_dataset("planetoid:cora")
    for folder in [data_folder, str(data_folder)]:
        assert ngf.load_dataset("planetoid:cora", data=folder).graph.nodes == 2708
    (tmp_path / "data").symlink_to(data_folder)
    assert ngf.load_dataset("planetoid:cora").graph.nodes == 2708


def test_downloads_end_with_an_error_where_there_is_no_network(tmp_path, monkeypatch):
    """Only what is not there is fetched; a proxy that does not answer stands for no network."""
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"]:
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NGF_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert ngf.load_dataset(KARATE, download=True).graph.nodes == 34
    with pytest.raises(ngf.Error, match="planetoid:nosuch"):
        ngf.load_dataset("planetoid:nosuch", download=True)
    with pytest.raises(ngf.Error, match="cora"):
        ngf.load_dataset("planetoid:cora", download=True)


def test_cora(data_folder):
    data = ngf.load_dataset("planetoid:cora")
    assert repr(data) == "Dataset(nodes=2708, edges=5278, features=1433, classes=7, splits=1)"
    assert [len(part) for part in data.split] == [140, 500, 1000]
    assert np.bincount(data.labels[data.split.train]).tolist() == [20] * 7


def test_data_sets_with_several_splits(data_folder):
    path = data_folder / "heterophilous" / "texas.npz"
    data = ngf.load_dataset(path)
    with np.load(path) as file:
        np.testing.assert_array_equal(data.labels, file["node_labels"])
        features = data.features if isinstance(data.features, np.ndarray) else data.features.toarray()
        np.testing.assert_array_equal(features, file["node_features"])
        assert len(data.splits) == 10
        for own, mask in zip(data.splits, file["train_masks"]):
            np.testing.assert_array_equal(own.train, np.flatnonzero(mask))


def test_reproduce(tmp_path):
    results = ngf.reproduce("fig1", out=tmp_path / "report", runs=2)
    assert results["seed"] == 1 and results["fig1"]
    assert (tmp_path / "report" / "index.html").is_file()
    assert ngf.reproduce(["fig1"], out=tmp_path / "other", runs=2)["fig1"] == results["fig1"]


def test_reproduce_tells_of_a_damaged_journal(tmp_path, program):
    """The job is cut off where its report is larger than files may be, and one bit of its journal flips."""
    expected = ngf.reproduce("fig1", out=tmp_path / "whole", runs=2)
    command = [program, "reproduce", "fig1", "--runs", "2", "-o", tmp_path / "report", "--quiet"]
    limit = (20_000, resource.RLIM_INFINITY)
    cut_off = subprocess.run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
                             capture_output=True)
    assert cut_off.returncode == 1, cut_off
    journal = tmp_path / "report" / "reproduce.journal"
    content = bytearray(journal.read_bytes())
    content[-20] ^= 4
    journal.write_bytes(content)
    with pytest.warns(UserWarning, match="reproduce.journal: 1 damaged record"):
        assert ngf.reproduce("fig1", out=tmp_path / "report", runs=2, resume=True) == expected
