"""Transformers with the interface of scikit-learn."""

from __future__ import annotations

import numpy as np

from ._estimators import BaseEstimator, TransformerMixin, _node_numbers, check_is_fitted
from ._features import as_singles, graph_and_features, shell_features


class ShellFeatures(TransformerMixin, BaseEstimator):
    """Transformer that aggregates features over the shells of each node: [X, shell 1, ..., shell H].

    With ``features``, or a ``Dataset`` that has some, the samples are node numbers, so that cross-validation splits
    nodes: ``transform(nodes)``. Otherwise the samples are the features of all nodes: ``transform(X)``.

    Parameters
    ----------
    graph : graph or Dataset
        Anything that ``ngf.as_graph`` takes. A ``Dataset`` brings its features.
    hops : int, default 2
        Number of hops H.
    aggregate : str, default "mean"
        What becomes of the features of a shell: "mean", "sum" or "max". An empty shell has 0.
    features : array or SciPy matrix, N x F, optional
        Features of all nodes; by default those of the ``Dataset``, if ``graph`` is one.
    min_paths : int, default 1
        With 2 or 3, keep a pair at 2 or more hops only if it has at least this many shortest paths.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the samples: F, or 1 for node numbers.

    Raises
    ------
    ValueError
        By ``fit``, if a parameter is out of range or the features do not fit the graph.

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = __import__("ngf").generate.citation_network(500)
    >>> model = make_pipeline(ShellFeatures(data, hops=2), LogisticRegression())
    >>> train, _, test = data.split
    >>> near = model.fit(train, data.labels[train]).score(test, data.labels[test])
    >>> alone = model.set_params(shellfeatures__hops=0).fit(train, data.labels[train]).score(test, data.labels[test])
    >>> near > alone
    True
    """

    def __init__(self, graph=None, hops=2, aggregate="mean", *, features=None, min_paths=1, threads=None, memory=None):
        self.graph = graph
        self.hops = hops
        self.aggregate = aggregate
        self.features = features
        self.min_paths = min_paths
        self.threads = threads
        self.memory = memory

    def fit(self, X, y=None):
        """Convert the graph, and compute the features of all nodes if the samples are node numbers.

        Parameters
        ----------
        X : array
            Node numbers, of shape (n,) or (n, 1), or the features of all nodes, N x F.
        y : None
            Ignored.

        Returns
        -------
        ShellFeatures
            self
        """
        if self.graph is None:
            raise ValueError("ShellFeatures needs a graph: ShellFeatures(graph)")
        self.graph_, features = graph_and_features(self.graph, self.features)
        self._rows = None if features is None else self._aggregate(features)
        if features is None:
            as_singles(X, "X", self.graph_.nodes)
            features = X
        else:
            _node_numbers(X, self.graph_.nodes)
        self._names = _column_names(features)
        self.n_features_in_ = len(self._names) if self._rows is None else 1
        return self

    def transform(self, X):
        """Return the aggregated features.

        Parameters
        ----------
        X : array
            Node numbers, of shape (n,) or (n, 1), or the features of all nodes, N x F: as for ``fit``.

        Returns
        -------
        numpy.ndarray of float32, n x (H + 1) F
            The features of each node, then those aggregated over its shell of hop 1, and so on.
        """
        check_is_fitted(self, "graph_")
        if self._rows is not None:
            return self._rows[_node_numbers(X, self.graph_.nodes)]
        columns = len(_column_names(X))
        if columns != self.n_features_in_:
            raise ValueError(f"X has {columns} features; fit was given {self.n_features_in_}")
        return self._aggregate(X)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns: "x0", "x1", ..., "x0_mean_hop1", ...

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features instead of "x0", "x1", ...; by default those of the data frame, if it was one.

        Returns
        -------
        numpy.ndarray of str
        """
        check_is_fitted(self, "graph_")
        names = self._names if input_features is None or self._rows is not None else list(input_features)
        if len(names) != len(self._names):
            raise ValueError(f"input_features has {len(names)} names for {len(self._names)} features")
        near = [f"{name}_{self.aggregate}_hop{k}" for k in range(1, self.hops + 1) for name in names]
        return np.array([*names, *near], dtype=object)

    def _aggregate(self, features):
        return shell_features(self.graph_, features, self.hops, self.aggregate, min_paths=self.min_paths,
                              memory=self.memory, threads=self.threads)


def _column_names(features) -> list[str]:
    """Those of a data frame, or x0, x1, ..."""
    names = getattr(features, "columns", None)
    if names is not None and all(isinstance(name, str) for name in names):
        return list(names)
    shape = features.shape if hasattr(features, "shape") else np.shape(features)
    return [f"x{j}" for j in range(shape[1] if len(shape) > 1 else 1)]
