"""Estimators as scikit-learn uses them: clones, searches, pickles, and that they learn."""

import csv
import pickle
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import ngf  # noqa: E402

# Such small networks gain nothing from threads.
QUICK = {"epochs": 30, "hidden": 8, "threads": 1}


def blocks(nodes=150, classes=3, inside=0.2, outside=0.01, noise=1.0, seed=1):
    """A stochastic block model whose nodes know their own block badly: matrix, features, labels."""
    random = np.random.default_rng(seed)
    labels = np.arange(nodes) % classes
    chance = np.where(labels[:, None] == labels, inside, outside)
    upper = np.triu(random.random((nodes, nodes)) < chance, 1)
    features = np.eye(classes)[labels] + noise * random.normal(size=(nodes, classes))
    return sp.csr_array((upper | upper.T).astype(float)), features, labels


@pytest.fixture(scope="module")
def problem():
    return blocks()


@pytest.fixture(scope="module")
def citations():
    return ngf.generate.citation_network(300)


def raw(graph, features, **options):
    """Features of both signs are not divided by their sum."""
    return ngf.NodeClassifier(graph, features, **{**QUICK, "normalize_features": False, "dropout": 0, **options})


def fitted(data, **options):
    train = data.split.train
    return ngf.NodeClassifier(data, **{**QUICK, **options}).fit(train, data.labels[train],
                                                                validation=data.split.validation)


def test_parameters():
    model = ngf.NodeClassifier(hops=3, lr=0.1)
    parameters = model.get_params()
    assert parameters["hops"] == 3 and parameters["lr"] == 0.1 and parameters["model"] == "ngcnn"
    assert model.set_params(hops=1, model="gcn") is model
    assert model.hops == 1 and model.get_params()["model"] == "gcn"
    with pytest.raises(ValueError, match="nosuch"):
        model.set_params(nosuch=1)
    assert ngf.Denoiser(epochs=5).get_params()["epochs"] == 5


def test_clones(problem, citations):
    graph, features, _ = problem
    for model in [raw(graph, features, hops=3), raw(ngf.as_graph(graph), features), fitted(citations),
                  ngf.NodeClassifier("builtin:citation,nodes=60")]:
        twin = clone(model)
        assert twin is not model and not hasattr(twin, "model_")
        assert twin.get_params().keys() == model.get_params().keys()
        assert twin.hops == model.hops and twin.epochs == model.epochs


def test_repr(citations):
    assert "hidden=8" in repr(fitted(citations))


@pytest.mark.parametrize("kind", ["ngcnn", "gcnn", "gcn", "sgc", "mlp"])
@pytest.mark.parametrize("recipe", ["strong", "paper"])
def test_every_model_learns(kind, recipe):
    graph, features, labels = blocks(noise=0.7)
    known, asked = np.arange(0, 150, 2), np.arange(1, 150, 2)
    model = raw(graph, features, model=kind, recipe=recipe, epochs=60).fit(known, labels[known])
    assert model.score(asked, labels[asked]) > 0.5
    assert model.history_.shape[1] == 3 and 1 <= model.best_epoch_ <= 60
    assert model.history_[model.best_epoch_ - 1, 2] == model.validation_score_ == model.history_[:, 2].max()


def test_what_is_told_of_nodes(citations):
    model = fitted(citations)
    nodes = np.array([5, 3, 3, 299])
    chances = model.predict_proba(nodes)
    assert chances.shape == (4, 7)
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(chances[1], chances[2])
    np.testing.assert_array_equal(model.predict(nodes), model.classes_[chances.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict(nodes[:, None]), model.predict(nodes))
    np.testing.assert_array_equal(model.predict(nodes.tolist()), model.predict(nodes))
    np.testing.assert_array_equal(model.predict(nodes.astype(np.uint32)), model.predict(nodes))


def test_neighbours_help(problem):
    """Nodes know little of themselves, and more by those around them."""
    graph, features, labels = problem
    nodes = np.arange(len(labels))
    alone, near = (cross_val_score(raw(graph, features, model=model, hops=hops), nodes, labels, cv=3).mean()
                   for model, hops in [("mlp", None), ("ngcnn", 1)])
    assert near > alone + 0.1


def test_a_search_over_hops(problem):
    graph, features, labels = problem
    nodes = np.arange(len(labels))
    search = GridSearchCV(raw(ngf.as_graph(graph), features), {"hops": [0, 1, 2]}, cv=3).fit(nodes, labels)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_params_["hops"] == np.argmax(scores) > 0
    assert scores.max() > scores[0] + 0.1
    assert search.best_estimator_.score(nodes, labels) > 0.7
    columns = GridSearchCV(raw(graph, features), {"hops": [1]}, cv=2).fit(nodes[:, None], labels)
    assert columns.best_score_ > 0.6


def test_the_same_seed_gives_the_same_network(problem):
    graph, features, labels = problem
    nodes = np.arange(len(labels))
    chances = [raw(graph, features, random_state=seed, dropout=0.5, threads=threads).fit(nodes, labels)
               .predict_proba(nodes) for seed, threads in [(3, 1), (3, 2), (4, 1)]]
    np.testing.assert_array_equal(chances[0], chances[1])
    assert np.any(chances[0] != chances[2])


@pytest.mark.parametrize("seed", [None, np.int64(3), np.random.RandomState(3)])
def test_seeds_as_scikit_learn_has_them(problem, seed):
    graph, features, labels = problem
    nodes = np.arange(len(labels))
    assert raw(graph, features, random_state=seed).fit(nodes, labels).score(nodes, labels) > 0.4
    assert ngf.Denoiser(graph, arch="median", random_state=seed).fit_transform(np.ones(150)).shape == (150, )


def test_the_best_of_several_runs(citations):
    several = fitted(citations, runs=4)
    scores = [fitted(citations, random_state=seed).validation_score_ for seed in range(1, 5)]
    assert several.validation_score_ == max(scores)


def test_features_of_any_kind(problem):
    graph, features, labels = problem
    nodes = np.arange(len(labels))
    expected = raw(graph, features).fit(nodes, labels).predict_proba(nodes)
    kinds = [sp.csr_array(features), sp.csr_matrix(features), sp.csc_matrix(features), sp.coo_matrix(features),
             np.asfortranarray(features), features.astype(np.float32), features.tolist()]
    for kind in kinds:
        found = raw(graph, kind).fit(nodes, labels).predict_proba(nodes)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_order_of_sparse_entries_does_not_matter(citations):
    """Nor that some are listed in two halves; even where entries are dropped at random."""
    features = sp.csr_array(citations.features)
    halves = sp.csr_array((np.repeat(features.data / 2, 2), np.repeat(features.indices, 2), features.indptr * 2),
                          shape=features.shape)
    backwards = sp.csr_array((features.data.copy(), features.indices.copy(), features.indptr), shape=features.shape)
    for begin, end in zip(features.indptr, features.indptr[1:]):
        backwards.indices[begin:end] = features.indices[begin:end][::-1]
        backwards.data[begin:end] = features.data[begin:end][::-1]
    expected = fitted(citations, epochs=5).predict_proba(np.arange(300))
    for other in [halves, backwards]:
        found = fitted(citations, features=other, epochs=5).predict_proba(np.arange(300))
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_labels_of_any_kind(problem):
    graph, features, labels = problem
    nodes = np.arange(len(labels))
    numbers = raw(graph, features).fit(nodes, labels).predict(nodes)
    for names in [np.array(["x", "y", "z"]), np.array([-7, 0, 1000]), np.array(["b", "d", "f"], object)]:
        model = raw(graph, features).fit(nodes, names[labels])
        assert list(model.classes_) == list(names)
        np.testing.assert_array_equal(model.predict(nodes), names[numbers])
    assert raw(graph, features).fit(nodes.tolist(), labels.tolist()).classes_.tolist() == [0, 1, 2]


def test_a_graph_of_any_kind(problem, tmp_path):
    graph, features, labels = problem
    nodes = np.arange(len(labels))
    path = tmp_path / "graph.mtx"
    ngf.write_graph(path, graph)
    expected = raw(graph, features).fit(nodes, labels).predict_proba(nodes)
    for kind in [graph.toarray(), ngf.as_graph(graph), path, str(path)]:
        np.testing.assert_array_equal(raw(kind, features).fit(nodes, labels).predict_proba(nodes), expected)


def test_validation_nodes(citations):
    train, validation, test = citations.split
    labels = citations.labels
    own = ngf.NodeClassifier(citations, **QUICK).fit(train, labels[train], validation=validation)
    told = ngf.NodeClassifier(citations, **QUICK).fit(train, labels[train], validation=validation,
                                                      validation_labels=labels[validation])
    apart = ngf.NodeClassifier(citations.graph, citations.features, **QUICK).fit(
        train[::-1], labels[train][::-1], validation=validation, validation_labels=labels[validation])
    for model in [told, apart]:
        np.testing.assert_array_equal(model.predict_proba(test), own.predict_proba(test))
    score = np.mean(own.predict(validation) == labels[validation])
    assert np.isclose(score, own.validation_score_)


def test_taps_and_hops(citations):
    assert fitted(citations, taps=[1, 0.5], epochs=2).model_.settings.hops == 1
    assert fitted(citations, hops=3, epochs=2).model_.settings.hops == 3
    assert fitted(citations, hops=np.int64(3), epochs=2).model_.settings.hops == 3
    assert fitted(citations, taps=np.array([1, 0.5]), learn_taps=True, epochs=2).model_.settings.learn_taps


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1", "auc"])
def test_metrics(metric):
    graph, features, labels = blocks(80, 2)
    model = raw(graph, features, metric=metric).fit(np.arange(80), labels)
    assert 0.5 < model.validation_score_ <= 1


def test_pickles(problem):
    graph, features, labels = problem
    nodes = np.arange(150)
    for own, rows in [(graph, features), (ngf.as_graph(graph), sp.csr_array(features))]:
        model = raw(own, rows).fit(nodes, labels)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(nodes), model.predict_proba(nodes))
        np.testing.assert_array_equal(again.history_, model.history_)
        # The network came with it, and the first one still has its own.
        np.testing.assert_array_equal(again.predict_on(graph, features), model.predict_on(graph, features))
        assert clone(again).hidden == 8


def test_pickles_of_models_with_their_data(citations):
    model = fitted(citations)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(np.arange(300)), model.predict(np.arange(300)))
    assert again.graph.graph == citations.graph and (again.graph.features != citations.features).nnz == 0


def test_pickles_of_what_is_not_fitted(citations):
    again = pickle.loads(pickle.dumps(ngf.NodeClassifier(citations, **QUICK)))
    train = citations.split.train
    assert again.fit(train, citations.labels[train]).predict(train).shape == train.shape


def test_another_graph(citations):
    model = fitted(citations)
    nodes = np.arange(300)
    np.testing.assert_array_equal(model.predict_on(citations.graph, citations.features), model.predict(nodes))
    perturbed = ngf.perturb(citations.graph, create=50)
    assert model.predict_on(perturbed, citations.features).shape == (300, )
    few = model.predict_on(np.zeros((4, 4)), citations.features[:4])
    assert set(few) <= set(model.classes_)


def test_the_program_reads_what_is_saved(citations, program, tmp_path):
    names = np.array([f"topic {k}" for k in range(7)])
    train = citations.split.train
    model = ngf.NodeClassifier(citations, **QUICK).fit(train, names[citations.labels[train]])
    path = tmp_path / "model.safetensors"
    model.save(path)
    subprocess.run([program, "predict", path, "builtin:citation,nodes=300,seed=1", "-o", tmp_path / "labels.csv"],
                   check=True, capture_output=True)
    with open(tmp_path / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    nodes = np.arange(300)
    assert [row["label"] for row in rows] == model.predict(nodes).tolist()
    np.testing.assert_allclose([float(row["probability"]) for row in rows],
                               model.predict_proba(nodes).max(axis=1), atol=1e-5)


def test_what_is_not_fitted_says_so(citations):
    model = ngf.NodeClassifier(citations)
    for call in [lambda: model.predict([0]), lambda: model.predict_proba([0]), lambda: model.save("x"),
                 lambda: model.predict_on(citations.graph, citations.features),
                 lambda: ngf.Denoiser(citations.graph).transform(np.ones(300))]:
        with pytest.raises(NotFittedError):
            call()


def smooth(rows=12, columns=12, noise=0.3, seed=1):
    """A wave on a lattice, and the same with noise."""
    u, v = np.divmod(np.arange(rows * columns), columns)
    clean = np.sin(u / 3) + np.cos(v / 4)
    return clean, clean + noise * np.random.default_rng(seed).normal(size=clean.shape)


GRID = ngf.generate.grid(12, 12)
BRIEF = {"epochs": 100, "hidden": 30, "folds": 3, "threads": 1}


def error(x, clean):
    return np.sum((x - clean)**2)


@pytest.mark.parametrize("arch", ["ngf", "gf", "gcn", "sgc", "tikhonov", "median"])
def test_every_denoiser_takes_noise_away(arch):
    clean, noisy = smooth()
    found = ngf.Denoiser(GRID, arch=arch, normalize="row", **BRIEF).fit_transform(noisy)
    assert error(found, clean) < 0.8 * error(noisy, clean)


@pytest.mark.parametrize("stop, known", [("blind", None), ("sure", 0.3), ("variance", None), ("epochs", None)])
def test_every_stop_takes_noise_away(stop, known):
    clean, noisy = smooth()
    found = ngf.Denoiser(GRID, stop=stop, noise_level=known, **BRIEF).fit_transform(noisy)
    assert error(found, clean) < 0.95 * error(noisy, clean)


def test_the_oracle_is_the_best():
    clean, noisy = smooth()
    oracle, blind = (ngf.Denoiser(GRID, stop=stop, **BRIEF) for stop in ["oracle", "blind"])
    best = error(oracle.fit_transform(noisy, clean), clean)
    assert best <= error(blind.fit_transform(noisy, clean), clean) < error(noisy, clean)
    told = oracle.signals_[0]
    assert np.isclose(told.error, best / np.sum(clean**2)) and np.isclose(told.error, told.error_oracle)


def test_missing_values_are_filled_in():
    clean, noisy = smooth()
    gaps = noisy.copy()
    gaps[::7] = np.nan
    for arch in ["ngf", "tikhonov", "median"]:
        found = ngf.Denoiser(GRID, arch=arch, **BRIEF).fit_transform(gaps)
        assert np.all(np.isfinite(found))
        assert error(found[::7], clean[::7]) < 0.5 * np.sum(clean[::7]**2)
    assert np.isnan(gaps[0])


def test_shapes_of_signals():
    _, noisy = smooth()
    rows = np.stack([noisy, -noisy, noisy**2])
    denoiser = ngf.Denoiser(GRID, **BRIEF).fit(noisy)
    one = denoiser.transform(noisy)
    several = denoiser.transform(rows)
    assert one.shape == (144, ) and several.shape == (3, 144) and len(denoiser.signals_) == 3
    # A signal's answer does not depend on those beside it.
    np.testing.assert_array_equal(several[0], one)
    np.testing.assert_array_equal(denoiser.transform(rows[:1])[0], one)
    np.testing.assert_array_equal(denoiser.transform(np.asfortranarray(rows)), several)
    np.testing.assert_array_equal(denoiser.transform(noisy.tolist()), one)
    assert denoiser.transform(rows[:0]).shape == (0, 144)
    assert ngf.Denoiser(GRID, arch="median").fit_transform(noisy.astype(np.float32)).dtype == np.float64


def test_as_many_signals_as_nodes():
    """Signals are rows, here too."""
    rows = np.stack([smooth(3, 3, seed=seed)[1] for seed in range(9)])
    denoiser = ngf.Denoiser(ngf.generate.grid(3, 3), arch="tikhonov").fit(rows)
    np.testing.assert_array_equal(denoiser.transform(rows)[4], denoiser.transform(rows[4]))


def test_score():
    clean, noisy = smooth()
    denoiser = ngf.Denoiser(GRID, arch="tikhonov")
    found = denoiser.fit_transform(noisy)
    assert np.isclose(denoiser.score(noisy, clean), 1 - error(found, clean) / np.sum(clean**2))
    rows = np.stack([noisy, noisy, 9 * clean])
    assert np.isclose(denoiser.score(rows, np.stack([clean] * 3)), denoiser.score(noisy, clean))


def test_a_score_without_a_signal_is_refused():
    _, noisy = smooth()
    with pytest.raises(ValueError, match="y"):
        ngf.Denoiser(GRID, arch="tikhonov").score(noisy, np.zeros(144))


def test_denoisers_as_scikit_learn_uses_them():
    _, noisy = smooth()
    denoiser = ngf.Denoiser(GRID, random_state=3, **BRIEF)
    expected = denoiser.fit_transform(noisy)
    assert not hasattr(clone(denoiser), "graph_")
    np.testing.assert_array_equal(clone(denoiser).fit_transform(noisy), expected)
    np.testing.assert_array_equal(denoiser.fit(noisy).transform(noisy), expected)
    assert np.any(clone(denoiser).set_params(random_state=4).fit_transform(noisy) != expected)
    line = make_pipeline(ngf.Denoiser(GRID, arch="median"), ngf.Denoiser(GRID, arch="tikhonov"))
    assert line.fit_transform(noisy[None]).shape == (1, 144)


def test_pickles_of_denoisers():
    _, noisy = smooth()
    denoiser = ngf.Denoiser(GRID, **BRIEF)
    expected = pickle.loads(pickle.dumps(denoiser)).fit_transform(noisy)
    denoiser.fit_transform(noisy)
    again = pickle.loads(pickle.dumps(denoiser))
    np.testing.assert_array_equal(again.transform(noisy), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ngf.Denoiser("grid:rows=12,cols=12", **BRIEF)))
                                  .fit_transform(noisy), expected)


def test_a_constant_stays_as_it_is():
    np.testing.assert_allclose(ngf.Denoiser(GRID, **BRIEF).fit_transform(np.full(144, 3.0)), 3)


def test_cora(data_folder):
    data = ngf.load_dataset("planetoid:cora")
    model = fitted(data, hidden=16)
    assert model.score(data.split.test, data.labels[data.split.test]) > 0.7


@pytest.mark.parametrize("names", [[2**31 - 1, -2**31, 7], [-7, -1, 0], ["x", "y", "z"]])
def test_labels_of_any_kind_are_numbered(problem, names):
    """A network has an output for each label that occurs, whatever its value."""
    graph, features, labels = problem
    names = np.array(names)
    nodes = np.arange(len(labels))
    model = raw(graph, features, memory=200 << 20).fit(nodes, names[labels])
    np.testing.assert_array_equal(model.classes_, np.unique(names))
    assert model.predict_proba(nodes).shape == (len(nodes), 3)
    assert (model.predict(nodes) == names[labels]).mean() > 0.8


@pytest.mark.parametrize("shape", [{}, {"post": True, "jump": True}, {"pre": True, "post": True, "residual": True}])
def test_banks(shape):
    data = ngf.generate.citation_network(1700)
    train, validation, test = data.split
    model = ngf.NodeClassifier(data, bank=True, epochs=60, hidden=16, dropout=0.3, normalize_features=False, **shape)
    model.fit(train, data.labels[train], validation=validation)
    assert model.score(test, data.labels[test]) > 0.4
    assert np.array_equal(model.predict_on(data.graph, data.features)[test], model.predict(test))


def test_banks_have_no_taps():
    data = ngf.generate.citation_network(300)
    with pytest.raises(ValueError, match="a bank has weights in the place of taps"):
        ngf.NodeClassifier(data, bank=True, learn_taps=True).fit(data.split[0], data.labels[data.split[0]])


def test_pair_weights():
    data = ngf.generate.citation_network(300)
    train, validation, test = data.split
    labels = data.labels[train]

    def probabilities(**changes):
        model = ngf.NodeClassifier(data, epochs=10, hidden=16, **changes).fit(train, labels, validation=validation)
        return model.predict_proba(test), model

    plain, _ = probabilities()
    ones, _ = probabilities(pair_weights=np.ones((300, 1)))
    np.testing.assert_allclose(ones, plain, atol=1e-5)
    features, model = probabilities(pair_weights="features")
    assert np.abs(features - plain).max() > 1e-3
    assert np.array_equal(model.predict_on(data.graph, data.features)[test], model.predict(test))
    embeddings = np.random.default_rng(1).normal(size=(300, 5))
    _, given = probabilities(pair_weights=embeddings, pair_power=2)
    with pytest.raises(ValueError, match="pair weights from a file"):
        given.predict_on(data.graph, data.features)
    assert np.array_equal(given.predict_on(data.graph, data.features, embeddings)[test], given.predict(test))
    with pytest.raises(ValueError, match="must be at least 0"):
        probabilities(pair_weights="features", pair_power=-1)
    with pytest.raises(ValueError, match="has no shells whose pairs could be weighted"):
        probabilities(pair_weights="features", model="gcn")
