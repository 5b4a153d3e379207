"""What is wrong is refused with a text that says what, and never with a crash."""

import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import KARATE, random_matrix

import ngf

pytest.importorskip("sklearn")


def refused(call, *parts, kind=ValueError):
    """The text names these parts, and speaks of arguments, neither of flags nor of the bindings."""
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    for part in parts:
        assert part in text, text
    assert "--" not in text and "incompatible function arguments" not in text and "\n" not in text, text
    return caught.value


ARCS = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("graph, part", [
    (np.zeros((2, 3)), "2 x 3"),
    (sp.csr_array((2, 3)), "2 x 3"),
    (np.zeros(4), "1 dimension"),
    (np.zeros((2, 2, 2)), "3 dimensions"),
    (3, "0 dimensions"),
    (None, "no graph"),
    (object(), "no graph"),
    (np.array([["a", "b"], ["c", "d"]]), "no graph"),
    (np.array([[0, 1j], [1j, 0]]), "complex"),
    (sp.csr_array(np.array([[0, 1j], [1j, 0]])), "complex"),
    (np.array([[0, np.nan], [1, 0]]), "NaN"),
    (np.array([[0, np.inf], [1, 0]]), "infinite"),
    (sp.csr_array(np.array([[0, np.nan], [1, 0]])), "NaN"),
    (nx.Graph([(0, 1, {"weight": float("nan")})]), "NaN"),
    ("nosuch.txt", "nosuch.txt"),
    ("builtin:nosuch", "karate, citation"),
    ("planetoid:nosuch", "planetoid:cora"),
    ("er:nodes=10,p=2", "p=2"),
    ("er:nodes=-1,p=0.5", "nodes=-1"),
    ("er:sizes=3", "nodes, p, seed"),
    ("ws:nodes=10,k=3", "k=3"),
])
def test_graphs(graph, part):
    refused(lambda: ngf.as_graph(graph), part)


def broken(make, **arrays):
    """A sparse matrix whose arrays were exchanged, so that they contradict each other."""
    matrix = make(sp.csr_array(np.array([[0, 1, 2, 0], [1, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]])))
    for name, array in arrays.items():
        setattr(matrix, name, array)
    return matrix


def bsr(matrix):
    return sp.bsr_array(matrix, blocksize=(2, 2))


BROKEN = [
    (broken(make, **{name: np.array(values, np.int32)}), part)
    for make, name, values, part in [
        (sp.csr_array, "indptr", [0, 2, 3, 10**8, 4], "does not rise"),
        (sp.csr_array, "indptr", [0, 2, 3, 4, 10**8], "after the 4 entries"),
        (sp.csr_array, "indptr", [-5, 2, 3, 4, 4], "does not rise from 0"),
        (sp.csr_array, "indptr", [0, 2, 4], "3 entries, not 5"),
        (sp.csr_array, "indices", [1, 2, 0, 10**8], "100000000; expected 0 to 3"),
        (sp.csc_array, "indices", [1, 2, 0, -10**8], "-100000000"),
        (sp.csc_array, "indptr", [0, 2, 3, 4, 10**8], "after the 4 entries"),
        (bsr, "indptr", [0, 10**7, 3], "does not rise"),
        (bsr, "indices", [0, 10**7, 0], "10000000; expected 0 to 1"),
        (sp.coo_array, "row", [0, 0, 10**8, 2], "row has 100000000"),
        (sp.coo_array, "col", [0, 0, -10**8, 2], "col has -100000000"),
        (sp.coo_array, "col", [0], "1 columns"),
        (sp.dia_array, "offsets", [0], "1 offsets"),
    ]
]


@pytest.mark.parametrize("matrix, part", BROKEN)
def test_broken_sparse_matrices(matrix, part):
    """SciPy trusts the arrays, and crashes."""
    refused(lambda: ngf.as_graph(matrix), "the matrix is broken", part)
    refused(lambda: ngf.hop_distances(matrix), "the matrix is broken", part)
    path = ngf.as_graph(sp.csr_array(np.diag([1.0] * 3, 1)))
    refused(lambda: ngf.NodeClassifier(path, matrix, validation_fraction=0.5).fit([0, 1, 2, 3], [0, 1, 0, 1]),
            "features is broken", part)


def test_sparse_matrices_of_every_format():
    whole = random_matrix(12)
    for form in ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]:
        assert ngf.as_graph(sp.csr_array(whole).asformat(form)) == ngf.as_graph(whole), form
    rows = sp.lil_array((3, 3))
    rows.rows[0], rows.data[0] = [10**8], [1.0]
    refused(lambda: ngf.as_graph(rows), "100000000")


@pytest.mark.parametrize("ends, nodes, part", [
    (np.zeros((3, 2), int), None, "2 x E"),
    (np.zeros(4, int), None, "2 x E"),
    (np.zeros((2, 2)), None, "whole numbers"),
    (np.ones((2, 2), bool), None, "whole numbers"),
    (np.array([[0, -1], [1, 0]]), None, "node -1"),
    (np.array([[0, 5], [5, 0]]), 3, "node 5"),
    (np.array([[0, 1], [1, 0]]), -1, "-1"),
    (np.array([[0, 1], [1, 0]]), 2.5, "2.5"),
    (np.array([[2**33], [0]]), None, "nodes"),
    (np.array([[2**63 + 1], [0]], np.uint64), None, "node"),
])
def test_edge_index(ends, nodes, part):
    refused(lambda: ngf.from_edge_index(ends, nodes), part)


@pytest.mark.parametrize("hops", [-1, 1.5, True, np.True_, float("nan"), float("inf"), "two", 2**32, [1]])
def test_hops(hops):
    """Numbers that are no number of hops."""
    either = (ValueError, TypeError)
    for call, name in [(lambda: ngf.hop_distances(KARATE, hops), "max_hops"),
                       (lambda: ngf.shell_sizes(KARATE, hops), "max_hops"),
                       (lambda: ngf.shells(KARATE, hops), "hops"), (lambda: ngf.khop(KARATE, hops), "k ")]:
        refused(call, name, kind=either)


def test_hops_must_be_said():
    for call in [lambda: ngf.shells(KARATE, None), lambda: ngf.khop(KARATE, None)]:
        refused(call, "hops")


@pytest.mark.parametrize("call, part", [
    (lambda: ngf.shells(KARATE, 2, min_paths=0), "min_paths is 0"),
    (lambda: ngf.shells(KARATE, 2, min_paths=4), "min_paths is 4"),
    (lambda: ngf.shells(KARATE, 2, min_paths=1.5), "min_paths is 1.5"),
    (lambda: ngf.shells(KARATE, 2, min_paths=10**12), "min_paths"),
    (lambda: ngf.hop_distances(KARATE, dtype=complex), "complex"),
    (lambda: ngf.hop_distances(KARATE, dtype="U3"), "dtype"),
])
def test_shells(call, part):
    refused(call, part)


@pytest.mark.parametrize("threads", [0, -1, 1.5, 5000, "many", float("nan")])
def test_threads(threads):
    either = (ValueError, TypeError)
    data = ngf.generate.citation_network(100)
    for call in [lambda: ngf.hop_distances(KARATE, threads=threads), lambda: ngf.shell_sizes(KARATE, threads=threads),
                 lambda: ngf.NeighborhoodFilter(KARATE, [1, 2], threads=threads),
                 lambda: ngf.PolynomialFilter(KARATE, [1, 2], threads=threads),
                 lambda: ngf.fit_taps(KARATE, np.ones(34), np.ones(34), 2, threads=threads),
                 lambda: ngf.Denoiser(KARATE, threads=threads).fit_transform(np.ones(34)),
                 lambda: ngf.NodeClassifier(data, threads=threads).fit([0, 1, 2, 3], [0, 1, 0, 1])]:
        refused(call, "threads", kind=either)


@pytest.mark.parametrize("memory", [0, -1, "", "much", "4X", float("nan"), float("inf"), "inf", "1e40", [1]])
def test_memory(memory):
    for call in [lambda: ngf.hop_distances(KARATE, memory=memory), lambda: ngf.shell_sizes(KARATE, memory=memory),
                 lambda: ngf.NeighborhoodFilter(KARATE, [1, 2], memory=memory),
                 lambda: ngf.load_dataset(KARATE, memory=memory)]:
        refused(call, "memory", kind=(ValueError, TypeError))


def test_memory_in_words():
    for memory in ["4G", "4GB", "4g", " 4000M ", "0.5T", "100000K", 4e9, 4 * 10**9, np.int64(4 * 10**9)]:
        assert ngf.shell_sizes(KARATE, memory=memory).sum() == 34 * 34


@pytest.mark.parametrize("call", [
    lambda: ngf.hop_distances("rmat:scale=12", memory="1K"),
    lambda: ngf.hop_distances(sp.csr_array((2 * 10**6, 2 * 10**6)), memory="1M"),
    lambda: ngf.shells(random_matrix(2000), 9, memory=1000),
    lambda: ngf.shell_sizes("rmat:scale=12", memory="1K"),
    lambda: ngf.shell_sizes(random_matrix(2000), 3, memory="100K"),
    lambda: ngf.NeighborhoodFilter("rmat:scale=12", [1, 1, 1], memory="1K"),
    lambda: ngf.fit_taps(KARATE, np.ones(34), np.ones(34), 3, memory=10),
    lambda: ngf.load_dataset("rmat:scale=16", memory="1K"),
    lambda: ngf.NodeClassifier("builtin:karate", np.eye(34), memory=100).fit(range(34), [0, 1] * 17),
])
def test_what_does_not_fit_into_memory(call):
    """Before it is taken, and as all kinds that people may catch."""
    error = refused(call, "memory", kind=ngf.MemoryExceeded)
    assert isinstance(error, MemoryError) and isinstance(error, ngf.Error) and isinstance(error, ValueError)


@pytest.mark.parametrize("call", [
    lambda memory: ngf.hop_distances("rmat:scale=10", memory=memory),
    lambda memory: ngf.shell_sizes("rmat:scale=10", memory=memory),
    lambda memory: ngf.NeighborhoodFilter("rmat:scale=10", [1, 1, 1], memory=memory),
    lambda memory: ngf.NodeClassifier("builtin:karate", np.eye(34), epochs=2, memory=memory).fit(
        range(34), [0, 1] * 17),
], ids=["hops", "sizes", "filter", "training"])
def test_the_memory_that_is_asked_for_is_enough(call):
    memory = 1000
    for _ in range(5):  # parts of a task tell of themselves, one after the other
        error = refused(lambda: call(memory), kind=ngf.MemoryExceeded)
        wanted = int(re.search(r"give memory=(\d+)", str(error))[1])
        assert wanted > memory
        memory = wanted
        try:
            call(memory)
            return
        except ngf.MemoryExceeded:
            pass
    raise AssertionError(f"{memory} bytes are not enough either")


@pytest.mark.parametrize("function", [ngf.hop_distances, lambda A, memory: ngf.shells(A, 3, memory=memory)],
                         ids=["hops", "shells"])
def test_advice_names_arguments_of_the_function(function):
    """Streaming would fit, but these functions return what is stored."""
    error = refused(lambda: function("rmat:scale=13", memory="30M"), "give memory=", kind=ngf.MemoryExceeded)
    assert "storage=" not in str(error)


def test_advice_names_arguments(tmp_path):
    """As they are typed in Python."""
    file = tmp_path / "two_weights.csv"
    file.write_text("0,1,2\n1,0,3\n1,2,1\n")
    refused(lambda: ngf.read_graph(file), "; the option directed=True keeps u-v and v-u apart, lenient=True keeps the")
    refused(lambda: ngf.Denoiser(ngf.read_graph(file, directed=True), arch="tikhonov").fit_transform(np.ones(3)),
            "; leave directed=True out")
    diverging = ngf.Denoiser("builtin:karate", arch="gcn", stop="epochs", epochs=9, lr=1e30)
    refused(lambda: diverging.fit_transform(np.arange(34.0)), "; take a smaller step: lr=...")
    too_many = refused(lambda: ngf.NeighborhoodFilter("ba:nodes=4000,m=2", [1, 1, 1], memory="1M"))
    assert re.search(r"; give memory=\d+", str(too_many))


def test_kinds_of_errors():
    assert issubclass(ngf.Error, ValueError) and issubclass(ngf.MemoryExceeded, ngf.Error)
    assert issubclass(ngf.MemoryExceeded, MemoryError)
    assert ngf.Error.__module__ == "ngf" and ngf.MemoryExceeded.__name__ == "MemoryExceeded"


X = np.ones((34, 3))


@pytest.mark.parametrize("call, part", [
    (lambda H: H.apply(X[:5]), "5 rows"),
    (lambda H: H.apply(X[None]), "3 dimensions"),
    (lambda H: H.apply(3.0), "0 dimensions"),
    (lambda H: H.apply(X * 1j), "complex"),
    (lambda H: H.apply(np.full(34, "a")), "<U1"),
    (lambda H: H.apply(np.full(34, None)), "object"),
    (lambda H: H @ (X * np.nan), "NaN"),
    (lambda H: H @ (X * np.inf), "infinite"),
    (lambda H: H.apply(np.array([np.inf, -np.inf] * 17)), "infinite"),
    (lambda H: H.gradients(X, X[:, :2]), "(34, 2)"),
    (lambda H: H.gradients(X[:5], X[:5]), "5 rows"),
    (lambda H: H.gradients(X * np.nan, X), "NaN"),
    (lambda H: H.gradients(X, X * np.nan), "NaN"),
    (lambda H: H.with_taps([]), "at least one tap"),
    (lambda H: H.with_taps([1, np.nan]), "finite"),
    (lambda H: setattr(H, "taps", [1, np.inf]), "finite"),
])
@pytest.mark.parametrize("make", [ngf.NeighborhoodFilter, ngf.PolynomialFilter])
def test_signals_and_taps(make, call, part):
    refused(lambda: call(make(KARATE, [1, 2])), part)


def test_shells_are_not_found_again_for_more_taps():
    H = ngf.NeighborhoodFilter(KARATE, [1, 2])
    refused(lambda: H.with_taps([1, 2, 3]), "3 taps")
    refused(lambda: H.with_taps([1]), "1 taps")
    refused(lambda: setattr(H, "taps", [1, 2, 3]), "3 taps")


def test_large_values_are_no_errors():
    """Sums of them may be infinite, where they are not."""
    H = ngf.NeighborhoodFilter(KARATE, [1, 0])
    for x in [np.full(34, 1e308), np.full((34, 2), 3e38, np.float32)]:
        np.testing.assert_array_equal(H @ x, x)


@pytest.mark.parametrize("call, part", [
    (lambda make: make(KARATE, []), "at least one tap"),
    (lambda make: make(KARATE, [1, np.inf]), "finite"),
    (lambda make: make(KARATE, [[1, 2]]), "groups"),
    (lambda make: make(KARATE, [1, 2], groups=np.zeros(34, int)), "a row for each group"),
    (lambda make: make(KARATE, [[1, 2]], groups=np.zeros(33, int)), "33 nodes"),
    (lambda make: make(KARATE, [[1, 2]], groups=np.ones(34, int)), "group 1"),
    (lambda make: make(KARATE, [[1, 2]], groups=-np.ones(34, int)), "from 0 on"),
    (lambda make: make(KARATE, [[1, 2]], groups=np.full(34, 2**32)), "group"),
    (lambda make: make(KARATE, [[1, 2]], groups=np.zeros(34)), "whole numbers"),
    (lambda make: make(KARATE, [[1, 2]], groups=np.zeros((34, 1), int)), "whole numbers"),
    (lambda make: make(KARATE, [1, 2], "nosuch"), "must be one of"),
    (lambda make: make(KARATE, [1, 2], None), "must be"),
    (lambda make: make(KARATE, [1, 2], dtype=int), "dtype"),
    (lambda make: make(KARATE, [1, 2], dtype=complex), "dtype"),
    (lambda make: make(np.zeros((2, 3)), [1, 2]), "2 x 3"),
])
@pytest.mark.parametrize("make", [ngf.NeighborhoodFilter, ngf.PolynomialFilter])
def test_filters(make, call, part):
    refused(lambda: call(make), part, kind=(ValueError, TypeError))


def test_choices_are_listed():
    refused(lambda: ngf.NeighborhoodFilter(KARATE, [1], "nosuch"), "normalize", "nosuch", "none, lmax, symmetric, row")
    refused(lambda: ngf.NeighborhoodFilter(KARATE, [1], storage="nosuch"), "storage", "auto, sparse, dense, stream")
    refused(lambda: ngf.PolynomialFilter(KARATE, [1], "nosuch"), "shift", "adjacency, adjacency-lmax, laplacian")
    refused(lambda: ngf.fit_taps(KARATE, X, X, 2, filter="nosuch"), '"neighborhood" or "polynomial"')
    refused(lambda: ngf.Denoiser(KARATE, arch="nosuch").fit_transform(X[:, 0]), "arch", "tikhonov, median")
    refused(lambda: ngf.Denoiser(KARATE, stop="nosuch").fit_transform(X[:, 0]), "stop", "blind, sure, variance")
    refused(lambda: ngf.reproduce("nosuch"), "nosuch", "table1", "fig2a")
    refused(lambda: ngf.reproduce("fig1", settings="nosuch"), "settings", "text, code")


@pytest.mark.parametrize("shift", ["laplacian", "normalized-laplacian", "gcn"])
def test_shifts_that_need_an_undirected_graph(shift):
    refused(lambda: ngf.PolynomialFilter(ARCS, [1, 2], shift), "directed")


@pytest.mark.parametrize("k", [-1, 5, 1.5, "one"])
def test_eigenvalues_of_no_shell(k):
    H = ngf.NeighborhoodFilter(KARATE, [1, 2])
    refused(lambda: H.largest_eigenvalue(k), str(k), kind=(ValueError, TypeError))


@pytest.mark.parametrize("call, part", [
    (lambda: ngf.fit_taps(KARATE, X, X, 0), "taps is 0"),
    (lambda: ngf.fit_taps(KARATE, X, X, 1.5), "taps is 1.5"),
    (lambda: ngf.fit_taps(KARATE, X, X, "two"), "taps is"),
    (lambda: ngf.fit_taps(KARATE, X[:3], X[:3], 2), "3 rows"),
    (lambda: ngf.fit_taps(KARATE, X, X[:, :2], 2), "columns"),
    (lambda: ngf.fit_taps(KARATE, X * np.nan, X, 2), "NaN"),
    (lambda: ngf.fit_taps(KARATE, X, X * np.nan, 2), "NaN"),
])
def test_fits(call, part):
    refused(call, part, kind=(ValueError, TypeError))


CITATIONS = ngf.generate.citation_network(100)


@pytest.mark.parametrize("option, value, part", [
    ("model", "nosuch", "ngcnn, gcnn, gcn, sgc, mlp"),
    ("recipe", "nosuch", "paper and strong"),
    ("metric", "nosuch", "accuracy, auc, macro_f1"),
    ("normalize", "nosuch", "symmetric"),
    ("shift", "nosuch", "laplacian"),
    ("hops", -1, "hops"),
    ("hops", 1.5, "hops"),
    ("hops", True, "hops"),
    ("taps", [], "tap"),
    ("taps", [1, np.nan], "tap"),
    ("hidden", 0, "width"),
    ("layers", 0, "layer"),
    ("epochs", 0, "epoch"),
    ("epochs", -1, "epochs"),
    ("epochs", 2.5, "epochs"),
    ("patience", -1, "patience"),
    ("lr", -1, "lr"),
    ("lr", "fast", "lr"),
    ("dropout", 1, "dropout"),
    ("weight_decay", -1, "weight"),
    ("min_paths", 7, "min_paths"),
    ("runs", 0, "runs"),
    ("runs", -1, "runs"),
    ("random_state", -1, "random_state"),
    ("random_state", "one", "random_state"),
    ("validation_fraction", 0, "validation_fraction"),
    ("validation_fraction", 1, "validation_fraction"),
])
def test_settings_of_classifiers(option, value, part):
    model = ngf.NodeClassifier(CITATIONS, **{"hidden": 4, "epochs": 2, option: value})
    refused(lambda: model.fit([0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 0, 1]), part, kind=(ValueError, TypeError))


def fit(*arguments, graph=CITATIONS, features=None, **options):
    return ngf.NodeClassifier(graph, features, hidden=4, epochs=2).fit(*arguments, **options)


@pytest.mark.parametrize("call, part", [
    (lambda: fit([0, 100], [0, 1]), "node 100"),
    (lambda: fit([0, -1], [0, 1]), "node -1"),
    (lambda: fit([0.0, 1.0], [0, 1]), "whole numbers"),
    (lambda: fit([True, False], [0, 1]), "whole numbers"),
    (lambda: fit([[0, 1]], [0, 1]), "whole numbers"),
    (lambda: fit(np.zeros(0, int), []), "no nodes"),
    (lambda: fit([0, 1], [0]), "2 nodes"),
    (lambda: fit([0], [0]), "validation"),
    (lambda: fit([0, 1, 2, 3], [0, 0, 0, 0]), "one label"),
    (lambda: fit([0, 1], [0, 1], validation=[200], validation_labels=[0]), "node 200"),
    (lambda: fit([0, 1], [0, 1], validation=[2, 3], validation_labels=[0]), "validation"),
    (lambda: fit([0, 1], [0, 1], validation=[2, 3], validation_labels=[0, 1, 0]), "validation"),
    (lambda: fit([0, 1], [0, 1], validation=[2], graph=KARATE, features=np.eye(34)), "validation_labels"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1], graph=None), "graph"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1], graph=KARATE), "features"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1], graph=KARATE, features=np.eye(33)), "33 rows"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1], graph=KARATE, features=np.ones(34)), "features"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1], graph=KARATE, features=np.full((34, 2), np.nan)), "finite"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1], graph=KARATE, features=sp.csr_array(np.full((34, 2), np.nan))), "finite"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1], graph=KARATE, features=np.ones((34, 0))), "features"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1]).predict([100]), "node 100"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1]).predict_on(KARATE, np.eye(34)), "34"),
    (lambda: fit([0, 1, 2, 3], [0, 1, 0, 1]).save("/nosuch/model.safetensors"), "/nosuch/model.safetensors"),
])
def test_nodes_and_features(call, part):
    refused(call, part)


WAVE = np.sin(np.arange(34.0))


@pytest.mark.parametrize("call, part", [
    (lambda: ngf.Denoiser().fit(WAVE), "graph"),
    (lambda: ngf.Denoiser(KARATE).fit(WAVE[:5]), "5 values"),
    (lambda: ngf.Denoiser(KARATE).fit_transform(WAVE[:, None]), "34 nodes"),
    (lambda: ngf.Denoiser(KARATE).fit_transform(WAVE[None, None]), "dimensions"),
    (lambda: ngf.Denoiser(KARATE).fit_transform(3.0), "dimensions"),
    (lambda: ngf.Denoiser(KARATE).fit_transform(WAVE + np.inf), "infinite"),
    (lambda: ngf.Denoiser(KARATE).fit_transform(WAVE * np.nan), "no value"),
    (lambda: ngf.Denoiser(KARATE).fit_transform(WAVE, WAVE[:5]), "5 values"),
    (lambda: ngf.Denoiser(KARATE).fit_transform(WAVE, np.stack([WAVE, WAVE])), "clean"),
    (lambda: ngf.Denoiser(KARATE, stop="oracle").fit_transform(WAVE), "clean"),
    (lambda: ngf.Denoiser(KARATE, epochs=-1).fit_transform(WAVE), "epochs"),
    (lambda: ngf.Denoiser(KARATE, folds=1).fit_transform(WAVE), "folds"),
    (lambda: ngf.Denoiser(KARATE, hidden=0).fit_transform(WAVE), "hidden"),
    (lambda: ngf.Denoiser(KARATE, lr=0).fit_transform(WAVE), "lr is 0"),
    (lambda: ngf.Denoiser(KARATE, noise_level=-1).fit_transform(WAVE), "noise level"),
    (lambda: ngf.Denoiser(KARATE, taps=[]).fit_transform(WAVE), "tap"),
    (lambda: ngf.Denoiser(KARATE, taps=[np.nan]).fit_transform(WAVE), "tap"),
    (lambda: ngf.Denoiser(KARATE, random_state=-1).fit_transform(WAVE), "random_state"),
    (lambda: ngf.Denoiser(ARCS, arch="tikhonov").fit_transform(WAVE[:3]), "undirected"),
])
def test_denoisers(call, part):
    refused(call, part, kind=(ValueError, TypeError))


@pytest.mark.parametrize("name, content, parts", [
    ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n9 9\n", ["line 4", "'9'"]),
    ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 2\n", ["line 2"]),
    ("a.txt", "0 1\n1 x\n", ["line 2", "'x'"]),
    ("a.txt", "0 1\n1\n", ["line 2"]),
    ("a.txt", "", ["empty"]),
    ("a.graph", "3 2\n2\n1 3\n", ["cut off"]),
    ("a.graph", "3 2\n2 3\n1\n2\n", ["line 2", "node 1 lists 3", "lenient"]),
    ("a.txt", "0 1 2\n1 0 3\n", ["edge 0-1", "3 and 2", "directed", "lenient"]),
    ("a.npy", b"\x93NUMPY\x01\x00none", ["header"]),
    ("a.npz", b"PK\x03\x04none", ["ZIP"]),
    ("a.csv", "0,1\n1\n", ["line"]),
])
def test_files(tmp_path, name, content, parts):
    """The file and the place are named."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for read in [ngf.read_graph, ngf.load_dataset, ngf.as_graph, lambda path: ngf.hop_distances(str(path))]:
        refused(lambda: read(path), str(path), *parts, kind=ngf.Error)


def test_folders_and_places_that_are_not_there(tmp_path):
    refused(lambda: ngf.read_graph(tmp_path), str(tmp_path), "folder")
    refused(lambda: ngf.read_graph(tmp_path / "nosuch.txt"), "nosuch.txt")
    refused(lambda: ngf.write_graph(tmp_path / "nosuch" / "graph.mtx", KARATE), "nosuch")
    refused(lambda: ngf.reproduce("fig1", out="/proc/nosuch"), "/proc/nosuch")


@pytest.mark.parametrize("call, part", [
    (lambda: ngf.generate.erdos_renyi(10, 1.5), "p=1.5"),
    (lambda: ngf.generate.erdos_renyi(-10, 0.5), "nodes=-10"),
    (lambda: ngf.generate.erdos_renyi(10, 0.5, seed=-1), "seed"),
    (lambda: ngf.generate.grid(2.5, 3), "rows=2.5"),
    (lambda: ngf.generate.watts_strogatz(10, k=3), "k=3"),
    (lambda: ngf.generate.rmat(64), "scale"),
    (lambda: ngf.perturb(KARATE, create=-5), "create=-5"),
    (lambda: ngf.perturb(KARATE, destroy=105), "destroy=105"),
    (lambda: ngf.perturb(KARATE, create=np.nan), "create"),
    (lambda: ngf.perturb(KARATE, create=5, probability=True), "probability"),
    (lambda: ngf.perturb(KARATE, create=5, seed=-1), "seed"),
    (lambda: ngf.load_dataset(KARATE, seed=-1), "seed"),
    (lambda: ngf.reproduce("fig1", runs=-1), "runs"),
    (lambda: ngf.reproduce("fig1", seed=-1), "seed"),
])
def test_generators_and_others(call, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(call, part, kind=(ValueError, TypeError))
