"""Weights of pairs: the embeddings that a filter compares."""

from __future__ import annotations

import os
import warnings

import numpy as np
import scipy.sparse as sp

from . import _arguments as arguments
from . import _engine
from ._convert import as_csr, as_matrix, check_finite


def is_features(pair_weights) -> bool:
    if isinstance(pair_weights, str) and pair_weights != "features":
        raise ValueError(f'pair_weights is {pair_weights!r}; it must be an array of embeddings or "features"')
    return isinstance(pair_weights, str)


def with_features(A, directed):
    """The graph and the features of a data set, or of the name of one."""
    from ._data import Dataset, load

    dataset = load(A, directed=bool(directed)) if isinstance(A, (str, os.PathLike)) else A
    if not isinstance(dataset, Dataset):
        raise ValueError('pair_weights="features" needs a data set: an ngf.Dataset or the name of one')
    if dataset.features is None:
        raise ValueError("the data set has no features to weight pairs by")
    return dataset.graph, dataset.features


def power_of(power) -> float:
    power = arguments.real(power, "pair_power")
    if not (np.isfinite(power) and power >= 0):
        raise ValueError(f"pair_power is {power}; it must be a finite number from 0 on")
    return power


def embeddings_of(rows, nodes: int, tf_idf: bool):
    """The engine's embeddings, one row per node."""
    sparse = sp.issparse(rows)
    rows = rows if sparse else as_matrix(rows, "pair_weights")
    if rows.ndim != 2 or rows.shape[0] != nodes:
        raise ValueError(f"pair_weights have the shape {rows.shape}; the graph has {nodes} nodes, and each needs a row")
    if sparse:
        rows = sp.csr_array(as_csr(rows, "pair_weights"), copy=True)
        rows.sum_duplicates()
        with np.errstate(over="ignore"):
            values = rows.data.astype(np.float32)
        check_finite(values, "pair_weights")
        found = _engine.Embeddings.sparse(rows.indptr.astype(np.int32), rows.indices.astype(np.int32), values,
                                          rows.shape[1], tf_idf)
    else:
        check_finite(rows, "pair_weights")
        found = _engine.Embeddings.dense(rows, tf_idf)
    if found.zero_rows > 0:
        warnings.warn(f"{found.zero_rows} of {nodes} nodes have an embedding of zeros: pairs with them have weight 0",
                      stacklevel=3)
    return found
