"""Neighbourhood filters for PyTorch and PyG: a layer and two transforms."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import numpy as np

try:
    import torch
    from torch import Tensor, nn
except ImportError as missing:  # pragma: no cover
    raise ImportError("ngf.torch needs PyTorch: pip install torch") from missing

from . import _arguments as arguments
from . import _engine
from ._convert import as_array, as_graph, cpu_array, from_edge_index, has_rows, shell_options
from ._shells import hop_distances, shells

__all__ = ["AddHopDistances", "KHopEdges", "NeighborhoodConv"]


class _Filtering(torch.autograd.Function):
    """H X, with the engine's gradients by X and by the taps."""

    @staticmethod
    def forward(ctx, x, taps, engine):
        own = engine.with_taps(_taps_array(taps), None)
        ctx.engine = own
        ctx.save_for_backward(x)
        ctx.taps_dtype = taps.dtype
        return _applied(own, x, False)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, by_output):
        (x,) = ctx.saved_tensors
        by_output = _rows(by_output)
        if not ctx.needs_input_grad[1]:
            return _applied(ctx.engine, by_output, True), None, None
        by_x, by_taps = ctx.engine.gradients(cpu_array(_rows(x), "x"), cpu_array(by_output, "the gradient"))
        taps = torch.from_numpy(by_taps[0]).to(ctx.taps_dtype)
        return (torch.from_numpy(by_x) if ctx.needs_input_grad[0] else None), taps, None


def _taps_array(taps: Tensor) -> np.ndarray:
    return np.ascontiguousarray(cpu_array(taps, "taps"), np.float64)[np.newaxis]


def _rows(x: Tensor) -> Tensor:
    """A tensor with contiguous rows, as the engine reads them."""
    return x if has_rows(cpu_array(x, "x")) else x.contiguous()


def _applied(engine, x: Tensor, transposed: bool) -> Tensor:
    x = _rows(x)
    y = torch.empty(x.shape, dtype=x.dtype)
    engine.apply(cpu_array(x, "x"), cpu_array(y, "y"), transposed)
    return y


class _Cache:
    """The filters of the most recently used graphs, by their content."""

    def __init__(self, size: int):
        self.size = size
        self.kept: OrderedDict = OrderedDict()

    def find(self, key, make):
        if key not in self.kept:
            self.kept[key] = make()
            if len(self.kept) > self.size:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        return self.kept[key]


_filters = _Cache(16)


def _filter_of(edge_index: Tensor, nodes: int, hops: int, normalize: str, min_paths: int):
    """The filter of a graph. Shells do not depend on taps, so layers and epochs share them."""
    ends = np.ascontiguousarray(as_array(edge_index, "edge_index"))
    digest = hashlib.blake2b(ends, digest_size=16).digest()
    key = (digest, ends.shape, str(ends.dtype), nodes, hops, normalize, min_paths)

    def make():
        graph = from_edge_index(ends[::-1], nodes)  # rows are targets
        options = shell_options(hops, min_paths=min_paths)
        return _engine.NeighborhoodFilter(graph, np.ones((1, hops + 1)), None, normalize, options, False,
                                          "auto")

    return _filters.find(key, make)


class NeighborhoodConv(nn.Module):
    """Graph convolution x' = sum over k of h_k A_k (x W) + b, where A_k is the shell of hop k.

    Called with ``x`` and ``edge_index`` as the layers of PyG; PyG itself is not needed. An ``edge_index`` with all
    edges in both directions is an undirected graph. In a directed graph a node aggregates from the nodes that reach it
    along k arcs, as in PyG. Shells are computed once per graph and shared between layers and epochs. The layer runs on
    the CPU.

    Parameters
    ----------
    in_channels : int
        Number of features of x.
    out_channels : int
        Number of features of x'.
    hops : int
        Hops 0..hops, inclusive, so the layer has hops + 1 taps.
    normalize : str, default "symmetric"
        Normalisation of each shell: "symmetric", "row", "lmax" or "none".
    taps : str or list of float, default "learned"
        "learned" (parameters, initially 1 / (hops + 1)), "fixed" (the same values, not learned), or a list of fixed
        values.
    bias : bool, default True
        Add a bias.
    min_paths : int, default 1
        With 2 or 3, keep a pair at 2 or more hops only if it has at least this many shortest paths.

    Raises
    ------
    ValueError
        If ``taps`` does not have hops + 1 values.

    >>> conv = NeighborhoodConv(4, 2, hops=2)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> conv(torch.ones(3, 4), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(self, in_channels: int, out_channels: int, hops: int, normalize: str = "symmetric",
                 taps="learned", bias: bool = True, min_paths: int = 1):
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.hops = arguments.whole(hops, "hops", 0, 10**6)
        self.normalize = normalize
        self.min_paths = min_paths
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self._first_taps = self._taps_of(taps)
        if isinstance(taps, str) and taps == "learned":
            self.taps = nn.Parameter(self._first_taps.clone())
        else:
            self.register_buffer("taps", self._first_taps.clone())
        if bias:
            self.bias = nn.Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _taps_of(self, taps) -> Tensor:
        count = self.hops + 1
        if isinstance(taps, str):
            if taps not in ("learned", "fixed"):
                raise ValueError(f'taps is "{taps}"; it must be "learned", "fixed" or a list of {count} numbers')
            return torch.full((count,), 1 / count)
        values = torch.as_tensor(taps, dtype=torch.get_default_dtype())
        if values.shape != (count,):
            raise ValueError(f"{values.numel()} taps for {self.hops} hops; there must be {count}")
        return values

    def reset_parameters(self):
        """Draw Glorot weights, and reset biases to 0 and taps to their initial values."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        with torch.no_grad():
            self.taps.copy_(self._first_taps)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Apply the layer.

        Parameters
        ----------
        x : torch.Tensor, N x in_channels
            float32 or float64, dense or sparse, on the CPU.
        edge_index : torch.Tensor, 2 x E
            Sources and targets of the edges.

        Returns
        -------
        torch.Tensor, N x out_channels

        Raises
        ------
        ValueError
            If the shape, type or device of ``x`` is not supported.
        """
        if x.dim() != 2 or x.shape[1] != self.in_channels:
            raise ValueError(f"x has the shape {tuple(x.shape)}; it must be N x {self.in_channels}")
        if x.device.type != "cpu":
            raise ValueError(f"x is on {x.device}; NeighborhoodConv works on the CPU: move the model and x there")
        if x.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"x holds {x.dtype}; NeighborhoodConv takes float32 and float64")
        engine = _filter_of(edge_index, x.shape[0], self.hops, self.normalize, self.min_paths)
        # The narrower side goes through the graph.
        if self.in_channels < self.out_channels and not x.is_sparse:
            result = _Filtering.apply(x, self.taps, engine) @ self.weight
        else:
            result = _Filtering.apply(x @ self.weight, self.taps, engine)
        return result if self.bias is None else result + self.bias

    def extra_repr(self) -> str:
        """The settings, for ``print``."""
        learned = isinstance(self.taps, nn.Parameter)
        return (f"{self.in_channels}, {self.out_channels}, hops={self.hops}, normalize={self.normalize!r}, "
                f"taps={'learned' if learned else self.taps.tolist()}, bias={self.bias is not None}")


class AddHopDistances:
    """PyG transform that adds the N x N hop distances, as graph transformers use them for attention biases.

    PyG's loaders batch graphs of equal size only; pad others.

    Parameters
    ----------
    max_hops : int, optional
        Largest distance; farther and unreachable pairs get max_hops + 1. By default all distances, and -1 if
        unreachable.
    name : str, default "hop_distances"
        Attribute of the data to write.

    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
    >>> AddHopDistances(max_hops=2)(data).hop_distances
    tensor([[0, 1, 3],
            [1, 0, 3],
            [3, 3, 0]])
    """

    def __init__(self, max_hops: int | None = None, name: str = "hop_distances"):
        self.max_hops = max_hops
        self.name = name

    def __call__(self, data):
        hops = hop_distances(data, self.max_hops)
        farther = hops == np.iinfo(hops.dtype).max
        distances = torch.from_numpy(hops.astype(np.int64))
        distances[torch.from_numpy(farther)] = -1 if self.max_hops is None else self.max_hops + 1
        setattr(data, self.name, distances)
        return data

    def __repr__(self):
        return f"{type(self).__name__}(max_hops={self.max_hops})"


class KHopEdges:
    """PyG transform that adds ``edge_index_1``, ``edge_index_2``, ...: the pairs that are exactly k hops apart.

    Parameters
    ----------
    hops : int
        Largest hop distance, inclusive.
    name : str, default "edge_index"
        Prefix of the attributes to write.

    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> KHopEdges(2)(data).edge_index_2
    tensor([[0, 2],
            [2, 0]])
    """

    def __init__(self, hops: int, name: str = "edge_index"):
        self.hops = arguments.whole(hops, "hops", 0, 10**6)
        self.name = name

    def __call__(self, data):
        for k, shell in enumerate(shells(as_graph(data), self.hops, dtype=np.int8)):
            if k == 0:
                continue
            entries = shell.tocoo()
            ends = np.stack([entries.row, entries.col]).astype(np.int64)
            setattr(data, f"{self.name}_{k}", torch.from_numpy(ends))
        return data

    def __repr__(self):
        return f"{type(self).__name__}(hops={self.hops})"
