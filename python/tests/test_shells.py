"""Hops against SciPy, NetworkX and plain counting."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import KARATE, address, random_matrix, scipy_hops
from scipy.sparse import csgraph

import ngf

SIZES = [1, 2, 7, 63, 64, 65, 200]


def path_graph(nodes):
    return sp.diags([np.ones(nodes - 1)] * 2, [-1, 1], format="csr")


def check_shells(matrix, hops, count, **options):
    """All that the package says of the shells 0..count, against the hops of all pairs."""
    shells = ngf.shells(matrix, count, **options)
    assert len(shells) == count + 1
    for k, shell in enumerate(shells):
        expected = hops == k
        assert isinstance(shell, sp.csr_array) and shell.has_sorted_indices
        np.testing.assert_array_equal(shell.toarray(), expected)
        np.testing.assert_array_equal(ngf.khop(matrix, k, **options).toarray(), expected)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("degree", [0.5, 1.5, 4])
@pytest.mark.parametrize("nodes", SIZES)
def test_hops_are_those_of_scipy(nodes, degree, directed):
    matrix = random_matrix(nodes, degree, directed, seed=nodes)
    expected = scipy_hops(matrix)
    hops = ngf.hop_distances(matrix)
    assert hops.dtype == np.uint8 and hops.shape == (nodes, nodes)
    np.testing.assert_array_equal(hops, np.where(np.isinf(expected), 255, expected))
    np.testing.assert_array_equal(ngf.hop_distances(matrix, dtype=float), expected)
    check_shells(matrix, expected, 3)
    sizes = ngf.shell_sizes(matrix)
    finite = expected[np.isfinite(expected)].astype(int)
    np.testing.assert_array_equal(sizes, np.bincount(finite))


@pytest.mark.parametrize("create", [nx.Graph, nx.DiGraph])
def test_hops_are_those_of_networkx(create):
    graph = nx.gnp_random_graph(60, 0.04, seed=1, directed=create is nx.DiGraph)
    hops = ngf.hop_distances(graph)
    expected = np.full((60, 60), 255)
    for u, row in nx.all_pairs_shortest_path_length(graph):
        expected[u, list(row)] = list(row.values())
    np.testing.assert_array_equal(hops, expected)


def test_arcs_lead_from_rows_to_columns():
    #  0 -> 1 -> 2
    arcs = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(ngf.hop_distances(arcs), [[0, 1, 2], [255, 0, 1], [255, 255, 0]])
    np.testing.assert_array_equal(ngf.hop_distances(arcs, directed=False), [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    np.testing.assert_array_equal(ngf.khop(arcs, 2).toarray(), [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    assert ngf.shell_sizes(arcs).tolist() == [3, 2, 1]


def test_weights_and_self_loops_do_not_count():
    matrix = random_matrix(80, 2, weighted=True)
    plain = sp.csr_array(matrix != 0).astype(float)
    looped = sp.csr_array(matrix + 3 * sp.identity(80))
    np.testing.assert_array_equal(ngf.hop_distances(matrix), ngf.hop_distances(plain))
    np.testing.assert_array_equal(ngf.hop_distances(looped), ngf.hop_distances(plain))


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_hops_up_to_a_limit(limit):
    matrix = random_matrix(100, 2)
    expected = scipy_hops(matrix)
    expected[expected > limit] = np.inf
    np.testing.assert_array_equal(ngf.hop_distances(matrix, limit, dtype=float), expected)
    sizes = ngf.shell_sizes(matrix, limit)
    assert sizes.sum() == np.isfinite(expected).sum() and len(sizes) <= limit + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, np.uint16, "i4"])
def test_hops_of_another_type(dtype):
    matrix = random_matrix(60, 1)
    hops = ngf.hop_distances(matrix, dtype=dtype)
    assert hops.dtype == np.dtype(dtype)
    expected = scipy_hops(matrix)
    farther = np.inf if hops.dtype.kind == "f" else np.iinfo(dtype).max
    np.testing.assert_array_equal(hops, np.where(np.isinf(expected), farther, expected))


@pytest.mark.parametrize("nodes", [255, 256, 400])
def test_long_paths(nodes):
    """254 hops are the most that a byte tells."""
    matrix = path_graph(nodes)
    hops = ngf.hop_distances(matrix)
    assert hops.dtype == (np.uint8 if nodes == 255 else np.uint16)
    np.testing.assert_array_equal(hops, np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes))))
    assert ngf.hop_distances(matrix, 254).dtype == np.uint8
    assert ngf.khop(matrix, nodes - 1).nnz == 2
    assert len(ngf.shell_sizes(matrix)) == nodes


def test_hops_that_do_not_fit_a_type_are_refused():
    """Rather than wrapped."""
    with pytest.raises(ValueError, match="int8"):
        ngf.hop_distances(path_graph(200), dtype=np.int8)


def test_shells_part_all_pairs():
    matrix = random_matrix(120, 2)
    count = len(ngf.shell_sizes(matrix)) - 1
    total = sum(shell.toarray() for shell in ngf.shells(matrix, count))
    np.testing.assert_array_equal(total, np.isfinite(scipy_hops(matrix)))


def test_shells_beyond_the_last_are_empty():
    shells = ngf.shells(KARATE, 8)
    assert [shell.nnz for shell in shells] == [34, 156, 530, 274, 146, 16, 0, 0, 0]
    assert ngf.khop(KARATE, 100).nnz == 0
    assert all(shell.shape == (34, 34) for shell in shells)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, np.float64])
def test_type_of_shells(dtype):
    assert ngf.khop(KARATE, 2, dtype=dtype).dtype == dtype
    assert ngf.khop(KARATE, 2, dtype=dtype).sum() > 0


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("min_paths", [1, 2, 3])
def test_pairs_that_several_paths_join(min_paths, directed):
    """Shortest paths of k hops are walks of k hops between nodes that are k hops apart."""
    matrix = random_matrix(60, 4, directed)
    hops = scipy_hops(matrix)
    shells = ngf.shells(matrix, 4, min_paths=min_paths)
    walks = np.eye(60)
    for k, shell in enumerate(shells):
        enough = walks >= min_paths if k > 1 else walks > 0
        np.testing.assert_array_equal(shell.toarray(), (hops == k) & enough)
        walks = walks @ matrix.toarray()
    sizes = ngf.shell_sizes(matrix, 4, min_paths=min_paths)
    assert sizes.tolist() == [shell.nnz for shell in shells][:len(sizes)]


def test_threads_do_not_matter():
    matrix = random_matrix(700, 3)
    expected = ngf.hop_distances(matrix, threads=1)
    for threads in [2, 5]:
        np.testing.assert_array_equal(ngf.hop_distances(matrix, threads=threads), expected)
        np.testing.assert_array_equal(ngf.shell_sizes(matrix, threads=threads), ngf.shell_sizes(matrix, threads=1))


def test_names_of_nodes_do_not_matter():
    matrix = random_matrix(90, 2)
    order = np.random.default_rng(1).permutation(90)
    renamed = matrix[order][:, order]
    np.testing.assert_array_equal(ngf.hop_distances(renamed), ngf.hop_distances(matrix)[order][:, order])


def test_no_nodes_and_one():
    none = np.zeros((0, 0))
    assert ngf.hop_distances(none).shape == (0, 0)
    assert ngf.hop_distances(none, 3, dtype=float).shape == (0, 0)
    assert ngf.shell_sizes(none).tolist() == []
    assert [shell.shape for shell in ngf.shells(none, 1)] == [(0, 0), (0, 0)]
    one = sp.csr_array((1, 1))
    assert ngf.hop_distances(one).tolist() == [[0]]
    assert ngf.shell_sizes(one).tolist() == [1]
    assert ngf.khop(one, 0).toarray().tolist() == [[1]]


def test_isolated_nodes():
    hops = ngf.hop_distances(sp.csr_array((5, 5)))
    np.testing.assert_array_equal(hops, np.where(np.eye(5), 0, 255))


def test_hops_are_shown_where_the_engine_holds_them():
    """Rows lie on whole cache lines, as the engine has them, and nobody has copied them."""
    hops = ngf.hop_distances(KARATE)
    assert not hops.flags.owndata and hops.base is not None
    assert hops.strides == (64, 1)
    assert address(hops) % 64 == 0
    hops[0, 1] = 9  # it belongs to the caller
    assert hops[0, 1] == 9 and ngf.hop_distances(KARATE)[0, 1] == 1


def test_cora(data_folder):
    graph = ngf.as_graph("planetoid:cora")
    hops = ngf.hop_distances(graph)
    assert hops.shape == (2708, 2708)
    expected = scipy_hops(ngf.to_scipy(graph))
    np.testing.assert_array_equal(hops, np.where(np.isinf(expected), 255, expected))
    finite = expected[np.isfinite(expected)].astype(int)
    np.testing.assert_array_equal(ngf.shell_sizes("planetoid:cora"), np.bincount(finite))
    np.testing.assert_array_equal(ngf.khop(graph, 2).indices, np.nonzero(expected == 2)[1])
    peer = nx.from_scipy_sparse_array(ngf.to_scipy(graph))
    for source in [0, 1000, 2707]:
        row = nx.single_source_shortest_path_length(peer, source)
        assert {v: int(hops[source, v]) for v in np.flatnonzero(hops[source] < 255)} == row


def test_votes_of_wikipedia(data_folder):
    """A real graph with directions, by some of its rows."""
    graph = ngf.read_graph(data_folder / "networkit" / "wiki-Vote.txt", directed=True)
    assert graph.directed
    sources = np.arange(0, graph.nodes, 500)
    expected = csgraph.dijkstra(sp.csr_matrix(ngf.to_scipy(graph)), unweighted=True, indices=sources)
    np.testing.assert_array_equal(ngf.hop_distances(graph, dtype=np.float32)[sources], expected)
