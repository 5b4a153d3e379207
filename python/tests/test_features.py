"""Features of shells against NumPy and SciPy, and the transformer as scikit-learn uses it."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import KARATE, random_matrix, scipy_hops

import ngf

AGGREGATES = ["mean", "sum", "max"]
PATH = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])


def plain_features(hops_of_pairs, X, hops, aggregate):
    """The same from the hops of all pairs."""
    parts = [X]
    for k in range(1, hops + 1):
        shell = hops_of_pairs == k
        counts = shell.sum(axis=1, keepdims=True)
        if aggregate == "max":
            part = np.where(shell[:, :, None], X[None], -np.inf).max(axis=1)
        else:
            part = shell @ X / (np.maximum(counts, 1) if aggregate == "mean" else 1)
        parts.append(np.where(counts > 0, part, 0))
    return np.hstack(parts)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("nodes", [1, 7, 64, 200])
def test_like_numpy(nodes, aggregate, directed):
    matrix = random_matrix(nodes, directed=directed)
    X = np.random.default_rng(2).normal(size=(nodes, 5))
    hops = scipy_hops(matrix)
    for count in [0, 1, 3]:
        found = ngf.shell_features(matrix, X, count, aggregate, directed=directed)
        assert found.dtype == np.float32 and found.shape == (nodes, 5 * (count + 1))
        np.testing.assert_allclose(found, plain_features(hops, X, count, aggregate), rtol=1e-5, atol=1e-5)


def test_signals_of_any_kind():
    graph = ngf.as_graph(KARATE)
    X = np.random.default_rng(1).normal(size=(34, 3)).astype(np.float32)
    expected = ngf.shell_features(graph, X, 2)
    for same in [X.astype(float), np.asfortranarray(X), np.hstack([X, X])[:, :3], sp.csr_array(X), X.tolist()]:
        np.testing.assert_array_equal(ngf.shell_features(graph, same, 2), expected)
    np.testing.assert_allclose(ngf.shell_features(graph, X[:, 0], 2), expected[:, ::3], atol=1e-6)
    np.testing.assert_array_equal(ngf.shell_features(nx.karate_club_graph(), X, 2), expected)
    data = ngf.generate.citation_network(100)
    own = ngf.shell_features(data, None, 1)
    np.testing.assert_array_equal(own, ngf.shell_features(data.graph, data.features, 1))
    assert own.shape == (100, 2 * data.features.shape[1])


def test_threads_change_nothing():
    graph = ngf.as_graph("rmat:scale=11")
    X = np.random.default_rng(1).normal(size=(graph.nodes, 20))
    one, two = (ngf.shell_features(graph, X, 2, threads=threads) for threads in [1, 2])
    np.testing.assert_array_equal(one, two)


def test_min_paths():
    # 0 - 1 - 3, 0 - 2 - 3 - 4: two paths to 3, one to 4
    matrix = nx.to_scipy_sparse_array(nx.Graph([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]), nodelist=range(5))
    X = np.array([1, 2, 4, 8, 16])
    np.testing.assert_array_equal(ngf.shell_features(matrix, X, 2, "sum", min_paths=2)[:, 2], [8, 4, 2, 1, 0])


@pytest.mark.parametrize("call, part", [
    (lambda: ngf.shell_features(PATH, np.ones(3), 1), "3 rows"),
    (lambda: ngf.shell_features(PATH, None, 1), "no features"),
    (lambda: ngf.shell_features(PATH, [1, 2, 3, np.nan], 1), "NaN"),
    (lambda: ngf.shell_features(PATH, [1, 2, 3, 1e300], 1), "float32"),
    (lambda: ngf.shell_features(PATH, [3e38] * 4, 1, "sum"), "node 1 exceeds"),
    (lambda: ngf.shell_features(PATH, np.ones(4), -1), "hops is -1"),
    (lambda: ngf.shell_features(PATH, np.ones(4), 1.5), "hops is 1.5"),
    (lambda: ngf.shell_features(PATH, np.ones(4), 1, "min"), "mean, sum, max"),
    (lambda: ngf.shell_features(PATH, np.ones(4), 1, 3), "aggregate is 3"),
    (lambda: ngf.shell_features(PATH, np.ones(4), 1, memory=100), "memory="),
    (lambda: ngf.shell_features(PATH, np.ones(4), 1, threads=0), "threads is 0"),
])
def test_mistakes(call, part):
    with pytest.raises(ValueError, match=part):
        call()


class TestTransformer:
    @pytest.fixture(autouse=True)
    def sklearn(self):
        pytest.importorskip("sklearn")

    @pytest.fixture
    def data(self):
        return ngf.generate.citation_network(300)

    def test_all_rows(self):
        X = np.random.default_rng(1).normal(size=(34, 3))
        for aggregate in AGGREGATES:
            transformer = ngf.ShellFeatures(KARATE, hops=3, aggregate=aggregate)
            expected = ngf.shell_features(KARATE, X, 3, aggregate)
            np.testing.assert_array_equal(transformer.fit_transform(X), expected)
            np.testing.assert_array_equal(transformer.fit(X).transform(2 * X), 2 * expected)
            assert transformer.n_features_in_ == 3

    def test_nodes(self, data):
        expected = ngf.shell_features(data, None, 1)
        for transformer in [ngf.ShellFeatures(data, hops=1), ngf.ShellFeatures(data.graph, 1, features=data.features)]:
            transformer.fit([0, 1])
            np.testing.assert_array_equal(transformer.transform([5, 3, 5]), expected[[5, 3, 5]])
            np.testing.assert_array_equal(transformer.transform(np.array([[299], [0]])), expected[[299, 0]])

    def test_names(self, data):
        transformer = ngf.ShellFeatures(KARATE, hops=2, aggregate="max").fit(np.ones((34, 2)))
        assert list(transformer.get_feature_names_out()) == [
            "x0", "x1", "x0_max_hop1", "x1_max_hop1", "x0_max_hop2", "x1_max_hop2"]
        assert list(transformer.get_feature_names_out(["a", "b"]))[1:4] == ["b", "a_max_hop1", "b_max_hop1"]
        with pytest.raises(ValueError, match="1 names for 2"):
            transformer.get_feature_names_out(["a"])
        of_data = ngf.ShellFeatures(data, hops=1).fit([0])
        assert len(of_data.get_feature_names_out()) == of_data.transform([0]).shape[1]

    def test_data_frames(self):
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame({"age": np.arange(34.0), "size": np.ones(34)})
        transformer = ngf.ShellFeatures(KARATE, hops=1).set_output(transform="pandas")
        assert list(transformer.fit_transform(X).columns) == ["age", "size", "age_mean_hop1", "size_mean_hop1"]

    def test_clones_and_pickles(self, data):
        from sklearn.base import clone

        transformer = ngf.ShellFeatures(data, hops=1, aggregate="sum", threads=1).fit([0])
        twin = clone(transformer)
        assert not hasattr(twin, "graph_") and twin.get_params().keys() == transformer.get_params().keys()
        assert (twin.hops, twin.aggregate, twin.threads) == (1, "sum", 1)
        again = pickle.loads(pickle.dumps(transformer))
        np.testing.assert_array_equal(again.transform([7, 9]), transformer.transform([7, 9]))

    def test_pipelines_and_searches(self, data):
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline

        model = make_pipeline(ngf.ShellFeatures(data, threads=1), LogisticRegression(C=100, max_iter=200))
        nodes = np.arange(300)
        search = GridSearchCV(model, {"shellfeatures__hops": [0, 2]}, cv=3).fit(nodes, data.labels)
        alone, near = search.cv_results_["mean_test_score"]
        assert near > alone + 0.1
        assert search.best_params_ == {"shellfeatures__hops": 2}

    def test_mistakes(self, data):
        from sklearn.exceptions import NotFittedError

        for call, part in [(lambda: ngf.ShellFeatures().fit(np.ones(3)), "needs a graph"),
                           (lambda: ngf.ShellFeatures(KARATE).fit(np.ones((33, 2))), "33 rows"),
                           (lambda: ngf.ShellFeatures(KARATE).fit(np.ones((34, 2))).transform(np.ones((34, 3))),
                            "3 features"),
                           (lambda: ngf.ShellFeatures(data).fit([300]), "node 300"),
                           (lambda: ngf.ShellFeatures(data, hops=-1).fit([3]), "hops is -1")]:
            with pytest.raises(ValueError, match=part):
                call()
        with pytest.raises(NotFittedError):
            ngf.ShellFeatures(KARATE).transform(np.ones((34, 2)))
