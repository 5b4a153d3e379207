"""Graphs: what they are made of, what they show, and that they stay the same."""

import copy
import gc
import pathlib
import pickle
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import KARATE, address, edge_index_of, random_matrix

import ngf


def dense(graph):
    return ngf.to_scipy(graph).toarray()


def with_int64(matrix):
    """SciPy takes int32 where it can; so the indices are put in by hand."""
    matrix = sp.csr_matrix(matrix)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


def tensor_of(array):
    return pytest.importorskip("torch").from_numpy(array)


def networkx_of(matrix):
    directed = (matrix != matrix.T).nnz > 0
    graph = nx.empty_graph(matrix.shape[0], create_using=nx.DiGraph if directed else nx.Graph)
    graph.add_edges_from(edge_index_of(matrix).T.tolist())
    return graph


MATRICES = {
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "coo_matrix": sp.coo_matrix,
    "coo_array": sp.coo_array,
    "lil_matrix": sp.lil_matrix,
    "int64 indices": with_int64,
    "float32": lambda matrix: matrix.astype(np.float32),
    "bool": lambda matrix: matrix.astype(bool),
    "numpy": lambda matrix: matrix.toarray(),
    "numpy int8": lambda matrix: matrix.toarray().astype(np.int8),
    "numpy bool": lambda matrix: matrix.toarray() != 0,
    "numpy Fortran": lambda matrix: np.asfortranarray(matrix.toarray()),
    "lists": lambda matrix: matrix.toarray().tolist(),
    "graph": ngf.as_graph,
}
OTHERS = {
    "networkx": networkx_of,
    "data": lambda matrix: SimpleNamespace(edge_index=tensor_of(edge_index_of(matrix)), num_nodes=matrix.shape[0]),
    "data of numpy": lambda matrix: SimpleNamespace(edge_index=edge_index_of(matrix), num_nodes=matrix.shape[0]),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", [*MATRICES, *OTHERS])
def test_every_kind_of_input_is_the_same_graph(kind, directed):
    matrix = random_matrix(40, directed=directed)
    graph = ngf.as_graph({**MATRICES, **OTHERS}[kind](matrix))
    assert graph.directed == directed and not graph.weighted
    assert graph.nodes == 40 and graph.arcs == matrix.nnz
    assert graph.edges == (matrix.nnz if directed else matrix.nnz // 2)
    np.testing.assert_array_equal(dense(graph), matrix.toarray())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "coo_array", "int64 indices", "numpy", "graph"])
def test_weights_are_kept(kind, directed):
    matrix = random_matrix(30, directed=directed, weighted=True)
    graph = ngf.as_graph(MATRICES[kind](matrix))
    assert graph.weighted and graph.directed == directed
    np.testing.assert_array_equal(dense(graph), matrix.toarray())


def test_weights_of_float32_are_kept():
    matrix = random_matrix(30, weighted=True).astype(np.float32)
    np.testing.assert_array_equal(dense(ngf.as_graph(matrix)), matrix.toarray())


@pytest.mark.parametrize("create", [nx.Graph, nx.DiGraph])
def test_weights_of_networkx(create):
    #  a -2- b -(1)- c    d
    own = create([("a", "b", {"weight": 2.0}), ("b", "c")])
    own.add_node("d")
    graph = ngf.as_graph(own)
    assert graph.weighted and graph.directed == own.is_directed()
    np.testing.assert_array_equal(dense(graph), nx.to_numpy_array(own))


def test_names_of_nodes(tmp_path):
    path = tmp_path / "friends.txt"
    path.write_bytes("Zoe Adam\nAdam Bj\u00f6rn\nAdam K\xf6ln\n".encode("latin-1"))
    graph = ngf.read_graph(path)
    names = ["Zoe", "Adam", "Bj\udcf6rn", "K\udcf6ln"]  # bytes that are no UTF-8
    assert graph.node_names == names
    ngf.write_graph(tmp_path / "again.csv", graph)
    again = ngf.read_graph(tmp_path / "again.csv")
    assert again == graph and again.node_names == names
    assert ngf.as_graph(graph, directed=True).node_names == names
    assert ngf.perturb(graph, create=10).node_names == names
    assert pickle.loads(pickle.dumps(graph)).node_names == names
    with pytest.warns(UserWarning, match="names of the nodes are not written"):
        ngf.write_graph(tmp_path / "again.mtx", graph)
    assert ngf.as_graph(KARATE).node_names is None
    assert ngf.read_graph(path, ids="names").node_names == names
    with pytest.raises(ValueError, match="'Zoe' is not a node id|'Adam' is not a node id"):
        ngf.read_graph(path, ids="rows")
    with pytest.raises(ValueError, match="must be one of detect, rows, compact, names"):
        ngf.read_graph(path, ids="text")


def test_names_that_cannot_be_written(tmp_path):
    graph = ngf.as_graph(nx.path_graph(3))
    for names in [["a", "b"], ["a", "a", "b"], ["a", "b", 3], ["a", "", "b"], ["a", "b\nc", "d"]]:
        graph.node_names = names
        with pytest.raises(ValueError, match="node_names"):
            ngf.write_graph(tmp_path / "graph.txt", graph)
    assert list(tmp_path.iterdir()) == []


def test_names_of_networkx():
    assert ngf.as_graph(nx.Graph([("b", "a"), ("a", "c")])).node_names == ["b", "a", "c"]
    assert ngf.as_graph(nx.path_graph(3)).node_names is None
    assert ngf.as_graph(nx.Graph([("b", 1)])).node_names is None


def test_networkx_without_nodes_or_edges():
    assert ngf.as_graph(nx.empty_graph(4)).nodes == 4
    assert ngf.as_graph(nx.Graph()).nodes == 0


def test_direction_of_networkx_is_its_own():
    symmetric = nx.DiGraph([(0, 1), (1, 0)])
    assert ngf.as_graph(symmetric).directed
    assert not ngf.as_graph(symmetric, directed=False).directed
    assert not ngf.as_graph(nx.path_graph(3)).directed


@pytest.mark.parametrize("index", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_edge_index_of_any_whole_type(index):
    matrix = random_matrix(40)
    graph = ngf.from_edge_index(edge_index_of(matrix).astype(index), 40)
    np.testing.assert_array_equal(dense(graph), matrix.toarray())
    last = edge_index_of(matrix).max()
    assert ngf.from_edge_index(edge_index_of(matrix).astype(index)).nodes == last + 1


def test_edge_index_of_torch():
    ends = edge_index_of(random_matrix(40))
    expected = ngf.from_edge_index(ends, 40)
    for tensor in [tensor_of(ends), tensor_of(ends).int(), tensor_of(np.ascontiguousarray(ends.T)).T]:
        assert ngf.from_edge_index(tensor, 40) == expected
        assert ngf.as_graph(tensor) == ngf.from_edge_index(ends)


def test_edge_index_without_edges():
    none = np.zeros((2, 0), np.int64)
    assert ngf.from_edge_index(none).nodes == 0
    assert ngf.from_edge_index(none, 5).nodes == 5


def test_edge_index_of_torch_without_edges():
    assert ngf.as_graph(tensor_of(np.zeros((2, 0), np.int64))).nodes == 0


def test_edge_index_with_an_arc_one_way_is_directed():
    assert ngf.from_edge_index([[0, 1, 1], [1, 0, 2]]).directed
    assert not ngf.from_edge_index([[0, 1, 1], [1, 0, 2]], directed=False).directed
    assert not ngf.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]]).directed


def test_data_of_pyg():
    data_of = pytest.importorskip("torch_geometric.data")
    matrix = random_matrix(40)
    data = data_of.Data(edge_index=tensor_of(edge_index_of(matrix)), num_nodes=40)
    assert ngf.as_graph(data) == ngf.as_graph(matrix)


def test_names_and_paths(tmp_path):
    assert ngf.as_graph("er:nodes=50,p=0.1,seed=3") == ngf.generate.erdos_renyi(50, 0.1, seed=3)
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n1 2\n")
    for name in [path, str(path)]:
        assert ngf.as_graph(name).edges == 2 and not ngf.as_graph(name).directed
        assert ngf.as_graph(name, directed=True).directed


def test_explicit_zeros_are_no_edges():
    stored = sp.csr_array((np.array([1.0, 0.0, 1.0, 0.0]), ([0, 0, 1, 2], [1, 2, 0, 0])), shape=(3, 3))
    assert stored.nnz == 4
    graph = ngf.as_graph(stored)
    assert graph.edges == 1 and graph.nodes == 3 and not graph.weighted


def test_self_loops_are_left_out():
    matrix = random_matrix(20)
    looped = sp.csr_array(matrix + sp.identity(20))
    assert ngf.as_graph(looped) == ngf.as_graph(matrix)
    assert ngf.as_graph(looped.toarray()) == ngf.as_graph(matrix)
    assert ngf.from_edge_index([[0, 0, 1], [0, 1, 0]]).edges == 1


def test_an_edge_that_is_listed_twice_is_one():
    graph = ngf.from_edge_index([[0, 1, 0, 1], [1, 0, 1, 0]])
    assert graph.edges == 1 and not graph.weighted
    assert ngf.as_graph(nx.MultiGraph([(0, 1), (0, 1), (1, 2)])).edges == 2


@pytest.mark.parametrize("values", [[1.0, 1.0], [2.0, 3.0], [1.0, -1.0]])
def test_entries_of_a_matrix_that_are_listed_twice_add_up(values):
    """As SciPy has it: a matrix and its dense twin are the same graph."""
    entries = (np.array([*values, 1.0]), ([0, 0, 1], [1, 1, 2]))
    matrix = sp.coo_matrix(entries, shape=(3, 3))
    expected = ngf.as_graph(matrix.toarray())
    assert ngf.as_graph(matrix) == expected
    rows = sp.csr_matrix((entries[0], [1, 1, 2], [0, 2, 3, 3]), shape=(3, 3))
    assert ngf.as_graph(rows) == expected
    assert rows.nnz == 3  # what was given stays as it was


def test_small_graphs():
    for nodes in [0, 1, 5]:
        for matrix in [np.zeros((nodes, nodes)), sp.csr_array((nodes, nodes)), sp.coo_matrix((nodes, nodes))]:
            graph = ngf.as_graph(matrix)
            assert (graph.nodes, graph.edges, graph.arcs, graph.directed) == (nodes, 0, 0, False)
            assert len(graph.offsets) == nodes + 1 and len(graph.targets) == 0
            assert dense(graph).shape == (nodes, nodes)


def test_a_matrix_is_undirected_where_it_is_symmetric():
    assert not ngf.as_graph([[0, 2], [2, 0]]).directed
    assert ngf.as_graph([[0, 2], [3, 0]]).directed
    assert ngf.as_graph([[0, 1], [0, 0]]).directed
    assert ngf.as_graph([[0, 2], [2, 0]], directed=True).directed


def test_directions_may_be_dropped():
    graph = ngf.as_graph([[0, 2, 0], [3, 0, 1], [0, 0, 0]], directed=False)
    assert not graph.directed
    # The larger weight is kept.
    np.testing.assert_array_equal(dense(graph), [[0, 3, 0], [3, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("weighted", [False, True])
def test_there_and_back(weighted):
    graph = ngf.as_graph(random_matrix(30, weighted=weighted))
    assert ngf.as_graph(graph) is graph
    assert ngf.as_graph(graph, directed=False) is graph
    arcs = ngf.as_graph(graph, directed=True)
    assert arcs.directed and arcs.edges == 2 * graph.edges
    assert ngf.as_graph(arcs, directed=False) == graph
    assert ngf.as_graph(ngf.to_scipy(graph)) == graph


@pytest.mark.parametrize("weighted", [False, True])
def test_a_graph_changes_direction_as_its_matrix_does(weighted):
    """Arcs one way, arcs both ways with different weights, and weights below 0."""
    matrix = random_matrix(60, degree=6, directed=True, weighted=weighted)
    if weighted:
        matrix.data[::3] *= -1
    arcs = ngf.as_graph(matrix, directed=True)
    graph = ngf.as_graph(arcs, directed=False)
    assert not graph.directed and graph.weighted == weighted
    assert graph == ngf.as_graph(ngf.to_scipy(arcs), directed=False)
    both = (matrix != 0).toarray() & (matrix.T != 0).toarray()
    assert 0 < both.sum() < matrix.nnz
    expected = np.where(both, np.maximum(matrix.toarray(), matrix.T.toarray()), (matrix + matrix.T).toarray())
    np.testing.assert_array_equal(dense(graph), expected)
    again = ngf.as_graph(graph, directed=True)
    assert again == ngf.as_graph(ngf.to_scipy(graph), directed=True)
    assert again.directed and address(again.targets) == address(graph.targets)


def test_edges_of_weight_0_stay_when_directions_change(tmp_path):
    (tmp_path / "graph.txt").write_text("0 1 0\n1 2 3\n2 1 3\n")
    arcs, graph = (ngf.read_graph(tmp_path / "graph.txt", directed=directed) for directed in [True, False])
    assert (arcs.edges, graph.edges) == (3, 2)
    assert ngf.as_graph(arcs, directed=False) == graph


def test_arrays_of_a_graph_are_its_own_memory():
    graph = ngf.as_graph(random_matrix(50, weighted=True))
    for name, kind in [("offsets", np.uint64), ("targets", np.uint32), ("weights", np.float64)]:
        array = getattr(graph, name)
        assert array.dtype == kind
        assert address(array) == address(getattr(graph, name))
        assert not array.flags.writeable and not array.flags.owndata


def test_arrays_outlive_their_graph():
    matrix = random_matrix(50)
    targets = ngf.as_graph(matrix).targets
    graph = ngf.load_dataset(KARATE).graph
    gc.collect()
    np.testing.assert_array_equal(targets, matrix.indices)
    assert graph.offsets[-1] == graph.arcs == 156


def test_to_scipy_shares_what_the_graph_has():
    graph = ngf.as_graph(random_matrix(50, weighted=True))
    matrix = ngf.to_scipy(graph)
    assert isinstance(matrix, sp.csr_array)
    assert address(matrix.indices) == address(graph.targets)
    assert address(matrix.data) == address(graph.weights)


def test_equality():
    graph = ngf.as_graph(random_matrix(30))
    same = ngf.as_graph(random_matrix(30))
    assert graph == same and not graph != same
    assert graph != ngf.as_graph(random_matrix(30, seed=2))
    assert graph != ngf.as_graph(graph, directed=True)
    assert graph != "graph" and graph is not None


def test_equal_graphs_have_equal_hashes():
    assert hash(ngf.as_graph(random_matrix(30))) == hash(ngf.as_graph(random_matrix(30)))
    assert len({ngf.as_graph(random_matrix(30)), ngf.as_graph(random_matrix(30))}) == 1


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nodes", [0, 1, 30])
def test_pickling(nodes, directed, weighted):
    graph = ngf.as_graph(random_matrix(nodes, directed=directed, weighted=weighted))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(graph, protocol))
        assert again == graph
        assert again.directed == graph.directed and again.weighted == graph.weighted


def test_a_copy_is_the_graph_itself():
    """It never changes."""
    graph = ngf.as_graph(KARATE)
    assert copy.copy(graph) is graph and copy.deepcopy(graph) is graph


def test_repr():
    assert repr(ngf.as_graph(KARATE)) == "Graph(nodes=34, edges=78)"
    assert repr(ngf.as_graph([[0, 2], [0, 0]])) == "Graph(nodes=2, edges=1, directed=True, weighted=True)"


def test_a_graph_changes_no_more():
    graph = ngf.as_graph(KARATE)
    with pytest.raises(AttributeError):
        graph.nodes = 3
    with pytest.raises(ValueError):
        graph.targets[0] = 1


def test_generators_follow_their_seed():
    made = [
        lambda seed: ngf.generate.erdos_renyi(60, 0.1, seed=seed),
        lambda seed: ngf.generate.watts_strogatz(60, k=4, beta=0.5, seed=seed),
        lambda seed: ngf.generate.stochastic_block_model(60, blocks=3, p=0.4, q=0.05, seed=seed),
        lambda seed: ngf.generate.barabasi_albert(60, m=2, seed=seed),
        lambda seed: ngf.generate.rmat(6, edge_factor=4, seed=seed),
        lambda seed: ngf.generate.citation_network(60, seed=seed).graph,
    ]
    for make in made:
        assert make(1) == make(1)
        assert make(1) != make(2)


def test_generators_against_networkx():
    lattice = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 5), ordering="sorted")
    assert ngf.generate.grid(4, 5) == ngf.as_graph(nx.to_numpy_array(lattice, nodelist=sorted(lattice)))
    assert ngf.generate.erdos_renyi(7, 1.0) == ngf.as_graph(nx.complete_graph(7))
    assert ngf.generate.watts_strogatz(12, k=4, beta=0) == ngf.as_graph(nx.watts_strogatz_graph(12, 4, 0))
    club = nx.Graph(nx.karate_club_graph().edges)
    club = nx.to_numpy_array(club, nodelist=range(34), weight=None)
    assert ngf.generate.karate_club().graph == ngf.as_graph(club)


def test_blocks():
    graph = ngf.generate.stochastic_block_model(60, blocks=3, p=1, q=0)
    assert graph.edges == 3 * (20 * 19 // 2)
    assert nx.number_connected_components(nx.Graph(ngf.to_scipy(graph).toarray())) == 3


def test_perturb():
    graph = ngf.as_graph(KARATE)
    before = dense(graph)
    fewer = ngf.perturb(graph, destroy=50, seed=3)
    more = ngf.perturb(graph, create=50, seed=3)
    assert (fewer.edges, more.edges) == (39, 117)
    assert np.all(dense(fewer) <= before) and np.all(dense(more) >= before)
    assert ngf.perturb(graph) == graph
    assert ngf.perturb(graph, destroy=100).edges == 0
    assert ngf.perturb(graph, destroy=1, probability=True).edges == 0
    assert ngf.perturb(graph, create=1, probability=True).edges == 34 * 33 // 2
    assert more == ngf.perturb(KARATE, create=50, seed=3) != ngf.perturb(KARATE, create=50, seed=4)
    arcs = ngf.perturb(random_matrix(30, directed=True), create=10)
    assert arcs.directed


def test_the_package_is_typed():
    assert (pathlib.Path(ngf.__file__).parent / "py.typed").is_file()
