"""Estimators with the interface of scikit-learn."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as missing:  # pragma: no cover
    raise ImportError("ngf's estimators need scikit-learn: pip install scikit-learn") from missing

from . import _arguments as arguments
from . import _engine
from . import _pairs as pairs
from ._convert import as_csr, as_graph, as_matrix, check_finite
from ._data import Dataset


# What each setting is; those that are missing are names.
_WHOLE = {"hops", "min_paths", "hidden", "layers", "epochs", "patience", "batch", "folds", "threads", "memory"}
_REAL = {"dropout", "lr", "weight_decay", "noise_level", "pair_power"}
_FLAGS = {"learn_taps", "bias", "skip", "bank", "pre", "post", "residual", "jump", "normalize_features"}


def _set(settings, **values):
    """Set what is not None, so that defaults are the engine's own."""
    for setting, value in values.items():
        if value is None:
            continue
        if setting in _WHOLE:
            value = arguments.whole(value, setting, 0, 2**31 - 1 if setting != "memory" else 2**63 - 1)
        elif setting in _REAL:
            value = arguments.real(value, setting)
        elif setting in _FLAGS:
            value = arguments.flag(value, setting)
        elif setting == "taps":
            value = arguments.taps_list(value)
        elif setting != "seed":
            value = arguments.name(value, setting)
        setattr(settings, setting, value)


def _seed_of(random_state) -> int:
    """A seed from a random_state of scikit-learn: a number, a generator to draw one from, or None for a random one."""
    if random_state is None:
        return int(np.random.randint(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return arguments.seed(random_state, "random_state")


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Graph neural network that classifies nodes.

    The graph and the features of all nodes are parameters. The samples are node numbers, as an array of shape (n,) or
    (n, 1), so that cross-validation splits nodes: ``fit(nodes, labels)``, ``predict(nodes)``.

    Parameters
    ----------
    graph : graph, Dataset or ngf.mpi.Partition
        Anything that ``ngf.as_graph`` takes. A ``Dataset`` brings its features. With a partition all processes train
        together.
    features : array or SciPy matrix, N x F, optional
        Features of all nodes; by default those of the ``Dataset``.
    model : str, default "ngcnn"
        "ngcnn" (neighbourhood filters), "gcnn" (polynomial filters), "gcn", "sgc" or "mlp" (no graph).
    recipe : str, default "strong"
        "strong" or "paper": the set of defaults of all parameters that are None; docs/training.md lists both.
    hops : int, optional
        Hops 0..hops, inclusive; by default that of the recipe, or what ``taps`` says.
    taps : list of float, optional
        hops + 1 taps; by default all equal. With ``learn_taps`` their initial values.
    learn_taps : bool, optional
        Learn the taps of each layer; by default that of the recipe (no).
    normalize : str, optional
        Normalisation of the shells: "none", "lmax", "symmetric" or "row"; by default that of the recipe.
    shift : str, optional
        Graph shift operator of "gcnn"; by default that of the recipe.
    min_paths : int, optional
        Keep a pair at 2 or more hops only if it has at least this many shortest paths; by default 1.
    hidden : int, optional
        Number of features of each hidden layer; by default that of the recipe.
    layers : int, optional
        Number of layers; by default that of the recipe.
    bias : bool, optional
        Add a bias to each layer; by default that of the recipe.
    skip : bool, optional
        Add a linear skip connection around the filter of each layer; by default no.
    pair_weights : "features" or array, N x D, optional
        Weight each pair of the shells by the cosine of its nodes, ``max(0, cos) ** pair_power``: the cosine of their
        features after TF-IDF, or of the rows of an array. For "ngcnn"; by default no weights.
    pair_power : float, optional
        Power of the cosine; by default 1.
    bank : bool, optional
        Layers are banks: a weight matrix per shell or power in the place of taps; by default that of the recipe (no).
    pre : bool, optional
        With ``bank``, add a layer without graph before the banks.
    post : bool, optional
        With ``bank``, add a linear layer after the banks.
    residual : bool, optional
        With ``pre`` and ``post``, add each bank to its input, which it sees after layer normalisation.
    jump : bool, optional
        With ``post``, give the last layer the outputs of all layers before it, side by side.
    normalize_features : bool, optional
        Divide the features of each node by the sum of their absolute values; by default yes.
    dropout : float, optional
        Dropout probability of each layer's input; by default that of the recipe.
    lr : float, optional
        Learning rate; by default that of the recipe.
    weight_decay : float, optional
        Weight decay of the first layer; by default that of the recipe.
    epochs : int, optional
        Maximum number of epochs; by default that of the recipe.
    patience : int, optional
        Stop after this many epochs without a better validation score; by default 0 (never).
    metric : str, default "accuracy"
        Validation score that chooses the epoch: "accuracy", "auc" or "macro_f1".
    validation_fraction : float, default 0.2
        Share of the nodes passed to ``fit`` that is held out for validation, if ``fit`` gets no validation nodes.
    runs : int, default 1
        Number of networks to train, with seeds ``random_state``, + 1, ...; the best in validation is kept.
    batch : int, optional
        Maximum number of runs that are trained together; by default chosen by the size of the network.
    journal : path, optional
        File that keeps finished runs until all are finished. After an interrupt, ``fit`` with the same settings trains
        the missing runs only.
    random_state : int, numpy.random.Generator, RandomState or None, default 1
        Seed of the weights, dropout and held-out nodes.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The distinct labels, sorted.
    best_epoch_ : int
        Epoch of the best validation score, whose weights are kept.
    validation_score_ : float
    history_ : numpy.ndarray, epochs x 3
        Loss, training score and validation score of each epoch.

    Raises
    ------
    ValueError
        By ``fit``, if a parameter is out of range or the features do not fit the graph.

    >>> data = __import__("ngf").generate.citation_network(500)
    >>> train, validation, test = data.split
    >>> model = NodeClassifier(data, epochs=20).fit(train, data.labels[train], validation=validation)
    >>> model.predict(test).shape == test.shape
    True
    """

    def __init__(self, graph=None, features=None, *, model="ngcnn", recipe="strong", hops=None, taps=None,
                 learn_taps=None, normalize=None, shift=None, min_paths=None, hidden=None, layers=None, bias=None,
                 skip=None, pair_weights=None, pair_power=None, bank=None, pre=None, post=None, residual=None, jump=None,
                 normalize_features=None, dropout=None, lr=None, weight_decay=None, epochs=None, patience=None,
                 metric="accuracy", validation_fraction=0.2, runs=1, batch=None, journal=None, random_state=1,
                 threads=None, memory=None):
        self.graph = graph
        self.features = features
        self.model = model
        self.recipe = recipe
        self.hops = hops
        self.taps = taps
        self.learn_taps = learn_taps
        self.normalize = normalize
        self.shift = shift
        self.min_paths = min_paths
        self.hidden = hidden
        self.layers = layers
        self.bias = bias
        self.skip = skip
        self.pair_weights = pair_weights
        self.pair_power = pair_power
        self.bank = bank
        self.pre = pre
        self.post = post
        self.residual = residual
        self.jump = jump
        self.normalize_features = normalize_features
        self.dropout = dropout
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.metric = metric
        self.validation_fraction = validation_fraction
        self.runs = runs
        self.batch = batch
        self.journal = journal
        self.random_state = random_state
        self.threads = threads
        self.memory = memory

    def _settings(self, seed):
        settings = _engine.ClassifySettings.recipe(arguments.name(self.recipe, "recipe"), "")
        hops = self.hops
        if hops is None and self.taps is not None:
            hops = len(arguments.taps_list(self.taps)) - 1
        shift = self.shift
        if shift is None and self.model == "gcnn" and self.recipe == "strong":
            shift = "gcn"
        _set(settings.model, model=self.model, hops=hops, taps=self.taps, learn_taps=self.learn_taps,
             normalize=self.normalize, shift=shift, min_paths=self.min_paths, hidden=self.hidden, layers=self.layers,
             bias=self.bias, skip=self.skip, bank=self.bank, pre=self.pre, post=self.post, residual=self.residual,
             jump=self.jump, normalize_features=self.normalize_features)
        if self.pair_weights is not None:
            source = "features" if pairs.is_features(self.pair_weights) else "given"
            _set(settings.model, pair_weights=source, pair_power=self.pair_power)
        _set(settings.run, seed=seed, dropout=self.dropout, lr=self.lr,
             weight_decay=self.weight_decay)
        _set(settings, epochs=self.epochs, patience=self.patience, batch=self.batch, metric=self.metric,
             threads=arguments.threads(self.threads), memory=arguments.memory(self.memory))
        return settings

    def _graph_and_features(self):
        if isinstance(self.graph, Dataset):
            features = self.features if self.features is not None else self.graph.features
            return self.graph.graph, features
        if self.graph is None:
            raise ValueError("NodeClassifier needs a graph: NodeClassifier(graph, features)")
        return as_graph(self.graph), self.features

    def fit(self, nodes, labels, *, validation=None, validation_labels=None):
        """Train on the labels of some nodes.

        Parameters
        ----------
        nodes : array of n int
            Training nodes.
        labels : array of n labels
            Their labels, of any type that can be sorted.
        validation : array of int, optional
            Nodes that choose the epoch; by default a part of ``nodes`` (``validation_fraction``).
        validation_labels : array, optional
            Labels of the validation nodes; by default those of the ``Dataset``, if ``graph`` is one.

        Returns
        -------
        NodeClassifier
            self

        Raises
        ------
        ValueError
            If nodes and labels differ in length, a node does not exist, or validation labels are missing.
        """
        graph, features = self._graph_and_features()
        nodes = _node_numbers(nodes, graph.nodes)
        labels = np.asarray(labels)
        if labels.shape != nodes.shape:
            raise ValueError(f"{len(nodes)} nodes and labels of the shape {labels.shape} do not go together")
        seed = _seed_of(self.random_state)
        if validation is None:
            nodes, labels, validation, validation_labels = self._hold_out(nodes, labels, seed)
        else:
            validation = _node_numbers(validation, graph.nodes)
            if validation_labels is None:
                if not isinstance(self.graph, Dataset) or self.graph.labels is None:
                    raise ValueError("validation nodes need validation_labels")
                if not np.array_equal(labels, self.graph.labels[nodes]):
                    raise ValueError("labels are not those of the data set: give validation_labels too")
                validation_labels = self.graph.labels[validation]
            validation_labels = np.asarray(validation_labels)
            if validation_labels.shape != validation.shape:
                raise ValueError(f"{len(validation)} validation nodes and labels of the shape {validation_labels.shape} "
                                 "do not go together")
        self.classes_ = np.unique(np.concatenate([labels, validation_labels]))
        known = np.full(graph.nodes, -1, np.int32)
        known[nodes] = np.searchsorted(self.classes_, labels)
        known[validation] = np.searchsorted(self.classes_, validation_labels)
        dataset = _dataset(graph, features, known)
        runs = arguments.whole(self.runs, "runs", 1, 10**6)
        settings = self._settings(seed)
        embeddings = _given_embeddings(self.pair_weights, graph.nodes)
        if embeddings is not None:
            settings.weight_pairs_by(embeddings)
        journal = None if self.journal is None else Path(self.journal)
        if hasattr(self.graph, "place_of"):
            best = _train_together(self.graph, features, known, nodes, validation, settings, runs, journal)
        else:
            best = _engine.train(dataset, _sorted(nodes), _sorted(validation), _sorted(validation), settings, runs, journal)
        if best.damage:
            warnings.warn(best.damage, stacklevel=2)
        self.model_ = best.model
        self.history_ = best.history
        self.best_epoch_ = best.best_epoch
        self.validation_score_ = best.validation_score
        self.n_features_in_ = 1
        self._probabilities = best.model.predict(dataset, arguments.threads(self.threads), arguments.memory(self.memory),
                                                 embeddings)
        return self

    def _hold_out(self, nodes, labels, seed):
        """Hold out some nodes of each class, to choose the epoch."""
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction is {self.validation_fraction}; it must be above 0 and below 1")
        random = np.random.default_rng(seed)
        held = np.zeros(len(nodes), bool)
        for label in np.unique(labels):
            own = np.flatnonzero(labels == label)
            count = max(1, round(self.validation_fraction * len(own))) if len(own) > 1 else 0
            held[random.permutation(own)[:count]] = True
        if not held.any():
            raise ValueError("too few nodes to hold some out: give validation nodes to fit")
        return nodes[~held], labels[~held], nodes[held], labels[held]

    def predict_proba(self, nodes):
        """Predict class probabilities.

        Parameters
        ----------
        nodes : array of n int

        Returns
        -------
        numpy.ndarray, n x classes
            One row per node, one column per class of ``classes_``.
        """
        check_is_fitted(self, "model_")
        return self._probabilities[_node_numbers(nodes, len(self._probabilities))]

    def predict(self, nodes):
        """Predict labels.

        Parameters
        ----------
        nodes : array of n int

        Returns
        -------
        numpy.ndarray of n labels
        """
        best = self.predict_proba(nodes).argmax(axis=1)
        return self.classes_[best]

    def predict_on(self, graph, features, pair_weights=None):
        """Predict the labels of all nodes of another graph.

        Parameters
        ----------
        graph : graph
            Anything that ``ngf.as_graph`` takes.
        features : array or SciPy matrix, N x F
            Features of its nodes, with the number of features that the model was trained on.
        pair_weights : array, optional
            Embeddings of its nodes, for a model that was trained with an array of embeddings.

        Returns
        -------
        numpy.ndarray of N labels

        Raises
        ------
        ValueError
            If the features do not fit the graph or the model.
        """
        check_is_fitted(self, "model_")
        graph = as_graph(graph)
        dataset = _dataset(graph, features, np.full(graph.nodes, -1, np.int32))
        probabilities = self.model_.predict(dataset, arguments.threads(self.threads), arguments.memory(self.memory),
                                            _given_embeddings(pair_weights, graph.nodes))
        return self.classes_[probabilities.argmax(axis=1)]

    def save(self, path):
        """Write the model as a safetensors file, which ``ngf predict`` reads.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        ngf.Error
            If the file cannot be written.
        """
        check_is_fitted(self, "model_")
        self.model_.labels = [str(label) for label in self.classes_]
        self.model_.save(path)

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = _model_bytes(state["model_"])
        return state

    def __setstate__(self, state):
        state = dict(state)
        if isinstance(state.get("model_"), bytes):
            state["model_"] = _model_from(state["model_"])
        super().__setstate__(state)


def _model_bytes(model) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        return path.read_bytes()


def _model_from(content: bytes):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(content)
        return _engine.Model.load(path)


def _given_embeddings(pair_weights, nodes):
    """The engine's embeddings, where an array gives them."""
    if pair_weights is None or pairs.is_features(pair_weights):
        return None
    return pairs.embeddings_of(pair_weights, nodes, tf_idf=False)


def _sorted(nodes):
    return np.ascontiguousarray(np.sort(nodes), np.uint32)


def _node_numbers(nodes, count) -> np.ndarray:
    nodes = np.asarray(nodes)
    if nodes.ndim == 2 and nodes.shape[1] == 1:
        nodes = nodes[:, 0]
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
        raise ValueError(f"nodes of the shape {nodes.shape} and of {nodes.dtype}; they must be a list of whole numbers")
    if nodes.size == 0:
        raise ValueError("no nodes were given")
    if nodes.min() < 0 or nodes.max() >= count:
        raise ValueError(f"node {nodes.max() if nodes.max() >= count else nodes.min()} is not among the {count} of the graph")
    return nodes


def _train_together(partition, features, labels, nodes, validation, settings, runs, journal):
    """Train with the processes of an ``ngf.mpi.Partition``, each on its own nodes."""
    rows = features.tocsr() if sp.issparse(features) else np.asarray(features)
    sharded = _dataset(partition.graph, rows[partition.order], np.ascontiguousarray(labels[partition.order]))
    settings.partition_by(partition._engine)
    places = [_sorted(partition.place_of(part)) for part in (nodes, validation, validation)]
    return _engine.train(sharded, *places, settings, runs, journal)


def _dataset(graph, features, labels):
    if features is None:
        raise ValueError("NodeClassifier needs features, N x F")
    if not sp.issparse(features):
        features = np.asarray(features)
    if features.ndim != 2:
        raise ValueError(f"features have {features.ndim} dimensions; they must have 2")
    if features.shape[0] != graph.nodes:
        raise ValueError(f"features have {features.shape[0]} rows; the graph has {graph.nodes} nodes")
    dataset = _engine.Dataset.make(graph, labels)
    if sp.issparse(features):
        rows = sp.csr_array(as_csr(features, "features"), copy=True)
        rows.sum_duplicates()
        dataset.set_sparse(rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data.astype(np.float32),
                           rows.shape[1])
        return dataset
    features = np.ascontiguousarray(features, np.float32)
    check_finite(features, "features")
    dataset.set_dense(features)
    return dataset


class Denoiser(TransformerMixin, BaseEstimator):
    """Denoise signals on the nodes of a graph with an untrained network, fitted to each signal and stopped early.

    Signals are rows: ``transform(X)`` with X of shape (signals, N), or one signal of length N. NaN is a missing value,
    and is filled in.

    Parameters
    ----------
    graph : graph
        Anything that ``ngf.as_graph`` takes.
    arch : str, default "ngf"
        "ngf" or "gf" (decoder on a neighbourhood or polynomial filter), "gcn", "sgc", "tikhonov" or "median".
    stop : str, default "blind"
        Stopping rule: "blind" (cross-validation on held-out nodes), "sure" (Stein's estimate), "variance", "epochs"
        (none), or "oracle" (needs the clean signals in ``fit_transform``).
    taps : list of float, optional
        Taps of "ngf" and "gf"; by default those of the paper's test cases.
    normalize : str, optional
        Normalisation of the shells of "ngf"; by default "none".
    shift : str, optional
        Graph shift operator of "gf"; by default "adjacency".
    layers : int, optional
        Number of layers; by default 2, which is the decoder relu(H C) v for "ngf" and "gf".
    hidden : int, optional
        Number of features of each hidden layer; by default 150.
    lr : float, optional
        Learning rate of Adam; by default 0.01.
    epochs : int, optional
        Maximum number of epochs; by default 1000.
    folds : int, optional
        Number of folds of "blind"; by default 10.
    noise_level : float, optional
        Standard deviation of the noise; by default unknown.
    random_state : int, numpy.random.Generator, RandomState or None, default 1
        Seed of the weights and the folds.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Attributes
    ----------
    signals_ : list
        One entry per signal: ``epochs`` (where it was stopped), ``left_alone`` (the graph does not predict this signal,
        so it is returned unchanged), ``criterion`` (of the stopping rule, by epoch), ``smoothing`` (lambda of
        Tikhonov); with clean signals also ``error``, ``errors`` (by epoch) and ``error_oracle`` (their minimum), as |x
        - y|^2 / |y|^2.

    Raises
    ------
    ValueError
        By ``fit``, if a parameter is out of range or the signals do not fit the graph.

    >>> import numpy as np, ngf
    >>> grid = ngf.generate.grid(8, 8)
    >>> noisy = np.linspace(-1, 1, 64) + 0.3 * np.random.default_rng(1).normal(size=64)
    >>> Denoiser(grid, arch="tikhonov").fit_transform(noisy).shape
    (64,)
    """

    def __init__(self, graph=None, *, arch="ngf", stop="blind", taps=None, normalize=None, shift=None, layers=None,
                 hidden=None, lr=None, epochs=None, folds=None, noise_level=None, random_state=1, threads=None,
                 memory=None):
        self.graph = graph
        self.arch = arch
        self.stop = stop
        self.taps = taps
        self.normalize = normalize
        self.shift = shift
        self.layers = layers
        self.hidden = hidden
        self.lr = lr
        self.epochs = epochs
        self.folds = folds
        self.noise_level = noise_level
        self.random_state = random_state
        self.threads = threads
        self.memory = memory

    def _settings(self):
        settings = _engine.DenoiseSettings()
        _set(settings, arch=self.arch, stop=self.stop, taps=self.taps, normalize=self.normalize, shift=self.shift,
             layers=self.layers, hidden=self.hidden, lr=self.lr, epochs=self.epochs, folds=self.folds,
             noise_level=self.noise_level, seed=_seed_of(self.random_state), threads=arguments.threads(self.threads),
             memory=arguments.memory(self.memory))
        return settings

    def fit(self, X, y=None):
        """Check the shape of the signals. Nothing is learned from them: each signal is fitted by ``transform``.

        Parameters
        ----------
        X : array, signals x N, or N
        y : None
            Ignored.

        Returns
        -------
        Denoiser
            self
        """
        if self.graph is None:
            raise ValueError("Denoiser needs a graph: Denoiser(graph)")
        self.graph_ = as_graph(self.graph)
        self.n_features_in_ = self.graph_.nodes
        self._columns(X, "X")
        return self

    def transform(self, X):
        """Denoise signals.

        Parameters
        ----------
        X : array, signals x N, or N
            Noisy signals; NaN is a missing value.

        Returns
        -------
        numpy.ndarray
            In the shape of ``X``.
        """
        return self._denoise(X, None)

    def fit_transform(self, X, y=None):
        """Denoise signals, and compute the errors if the clean signals are known.

        Parameters
        ----------
        X : array, signals x N, or N
            Noisy signals; NaN is a missing value.
        y : array, optional
            Clean signals in the shape of ``X``. Their errors are in ``signals_``.

        Returns
        -------
        numpy.ndarray
            In the shape of ``X``.
        """
        return self.fit(X)._denoise(X, y)

    def score(self, X, y):
        """Denoise and return 1 - |x - y|^2 / |y|^2, the median over signals.

        Parameters
        ----------
        X : array, signals x N, or N
            Noisy signals.
        y : array
            Clean signals in the shape of ``X``.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If a clean signal is 0 everywhere.
        """
        clean = np.atleast_2d(np.asarray(y, float))
        if not (clean != 0).any(axis=1).all():
            raise ValueError("y has a signal that is 0 everywhere, against which there is no score")
        self.fit(X)._denoise(X, y)
        return 1 - float(np.median([signal.error for signal in self.signals_]))

    def _columns(self, X, what):
        signals = np.atleast_2d(as_matrix(np.asarray(X, np.float64).T, what).T)
        if signals.shape[1] != self.n_features_in_:
            raise ValueError(f"{what} has signals of {signals.shape[1]} values; the graph has {self.n_features_in_} nodes")
        return np.ascontiguousarray(signals.T)

    def _denoise(self, X, clean):
        check_is_fitted(self, "graph_")
        noisy = self._columns(X, "X")
        clean = None if clean is None else self._columns(clean, "y")
        result, self.signals_ = _engine.denoise(self.graph_, noisy, clean, self._settings())
        return result[:, 0] if np.ndim(X) == 1 else np.ascontiguousarray(result.T)

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("signals_", None)
        return state
