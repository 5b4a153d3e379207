"""What bench/train_peer.py trains on: Planetoid's data sets and both filters, in SciPy, and their products in torch.

Nodes of the largest component come first, so that H is a dense block and a sparse rest. Products with constant
matrices are taken in the cheaper order that is counted: H X once, or H (X Theta).
"""

import pickle
import typing

import numpy
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
import torch

OUT_OF_REACH = 255
# Sources or rows that are dense at a time.
BLOCK = 2048
# A multiplication of torch's sparse product takes as long as this many of its dense one, and a pass over a row as many as
# this many of its sparse one.
SPARSE_COST = 12
PASS_COST = 16


class Dataset(typing.NamedTuple):
    """Nodes of the largest component, `largest` of them, come first."""

    name: str
    adjacency: scipy.sparse.csr_matrix
    features: scipy.sparse.csr_matrix
    labels: numpy.ndarray
    classes: int
    largest: int
    train: numpy.ndarray
    validation: numpy.ndarray
    test: numpy.ndarray


# Reading


def read_pickle(folder, name, part):
    with open(folder / f"ind.{name}.{part}", "rb") as file:
        return pickle.load(file, encoding="latin1")


def read_adjacency(folder, name, nodes):
    """Symmetric, of zeros and ones: duplicates are one edge, self-loops none."""
    lists = read_pickle(folder, name, "graph")
    rows = numpy.concatenate([numpy.full(len(near), node) for node, near in lists.items()]).astype(numpy.int64)
    columns = numpy.concatenate([numpy.asarray(near) for near in lists.values()]).astype(numpy.int64)
    apart = rows != columns
    rows, columns = rows[apart], columns[apart]
    matrix = scipy.sparse.coo_matrix((numpy.ones(len(rows)), (rows, columns)), shape=(nodes, nodes)).tocsr()
    matrix = matrix + matrix.T
    matrix.data[:] = 1.0
    return matrix


def read_nodes(folder, name):
    """Features, labels (-1 where there is none) and the ids of test nodes. Citeseer's test ids have gaps: nodes
    without features or labels."""
    known, test_rows = read_pickle(folder, name, "allx"), read_pickle(folder, name, "tx")
    known_labels, test_labels = read_pickle(folder, name, "ally"), read_pickle(folder, name, "ty")
    test = numpy.loadtxt(folder / f"ind.{name}.test.index", dtype=numpy.int64)
    nodes = max(known.shape[0], test.max() + 1)
    place = scipy.sparse.csr_matrix((numpy.ones(len(test)), (test, numpy.arange(len(test)))), shape=(nodes, len(test)))
    upper = scipy.sparse.csr_matrix((nodes - known.shape[0], known.shape[1]))
    features = scipy.sparse.vstack([known, upper]).tocsr() + place @ test_rows
    labels = numpy.full(nodes, -1)
    labels[: len(known_labels)] = known_labels.argmax(axis=1)
    labels[test] = test_labels.argmax(axis=1)
    return features, labels, test


def row_normalised(features):
    sums = numpy.asarray(features.sum(axis=1)).ravel()
    factors = numpy.divide(1.0, sums, out=numpy.zeros_like(sums), where=sums != 0)
    return (scipy.sparse.diags(factors) @ features).tocsr()


def read_dataset(data, name):
    folder = data / "planetoid"
    features, labels, test = read_nodes(folder, name)
    adjacency = read_adjacency(folder, name, len(labels))
    training = len(read_pickle(folder, name, "y"))
    _, component = scipy.sparse.csgraph.connected_components(adjacency, directed=False)
    elsewhere = component != numpy.bincount(component).argmax()
    order = numpy.argsort(elsewhere, kind="stable")
    place = numpy.argsort(order)
    return Dataset(
        name=name,
        adjacency=adjacency[order][:, order],
        features=row_normalised(features)[order],
        labels=labels[order],
        classes=labels.max() + 1,
        largest=len(labels) - elsewhere.sum(),
        train=place[:training],
        validation=place[training : training + 500],
        test=place[test],
    )


# Filters


def hop_numbers(adjacency, most):
    """hops[i, j] up to `most`, OUT_OF_REACH beyond."""
    nodes = adjacency.shape[0]
    adjacency = adjacency.astype(numpy.float32)
    hops = numpy.empty((nodes, nodes), dtype=numpy.uint8)
    for first in range(0, nodes, BLOCK):
        count = min(BLOCK, nodes - first)
        block = numpy.full((nodes, count), OUT_OF_REACH, dtype=numpy.uint8)
        block[first + numpy.arange(count), numpy.arange(count)] = 0
        for hop in range(1, most + 1):
            near = adjacency @ (block == hop - 1).astype(numpy.float32)
            block[(near > 0) & (block == OUT_OF_REACH)] = hop
        hops[first : first + count] = block.T
    return hops


def shell(hops, hop):
    rows = [scipy.sparse.csr_matrix(hops[i : i + BLOCK] == hop) for i in range(0, len(hops), BLOCK)]
    return scipy.sparse.vstack(rows, format="csr").astype(numpy.float64)


def largest_eigenvalue(matrix):
    """Of a symmetric matrix without negative entries; that of an empty one is 0."""
    if matrix.nnz == 0:
        return 0.0
    start = numpy.ones(matrix.shape[0])
    return scipy.sparse.linalg.eigsh(matrix, k=1, which="LA", v0=start, tol=1e-9, return_eigenvectors=False)[0]


class Shells:
    """The hops of a graph and the eigenvalues of its shells, which filters of all lengths share."""

    def __init__(self, adjacency, most):
        self.hops = hop_numbers(adjacency, most)
        self.factors = [1.0]
        for hop in range(1, most + 1):
            eigenvalue = largest_eigenvalue(shell(self.hops, hop))
            self.factors.append(1.0 / eigenvalue if eigenvalue > 0 else 0.0)


class NeighbourhoodFilter:
    def __init__(self, shells, taps, largest):
        self.hops = shells.hops
        self.factor = numpy.zeros(OUT_OF_REACH + 1, dtype=numpy.float32)
        self.factor[:taps] = shells.factors[:taps]
        self.largest = largest

    def rows(self, nodes):
        return self.factor[self.hops[nodes]]

    def times(self, x):
        blocks = (self.rows(slice(i, i + BLOCK)) for i in range(0, len(self.hops), BLOCK))
        return numpy.concatenate([block @ x for block in blocks])

    def sparse(self):
        blocks = (self.rows(slice(i, i + BLOCK)) for i in range(0, len(self.hops), BLOCK))
        return scipy.sparse.vstack([scipy.sparse.csr_matrix(block) for block in blocks], format="csr")

    def split(self):
        entries = numpy.count_nonzero(self.factor[self.hops[: self.largest]])
        rest = numpy.count_nonzero(self.factor[self.hops[self.largest :]])
        return cheapest_split(entries, rest, self.largest, self.largest)

    def cost(self):
        """Of a column's product, in multiplications of a dense product."""
        return self.split()[0]

    def product(self):
        _, rows = self.split()
        if rows == 0:
            return SplitMatrix(self.sparse())
        rest = scipy.sparse.csr_matrix(self.rows(slice(rows, None)))
        return SplitMatrix(rest, self.rows(slice(0, rows))[:, :rows])


class PolynomialFilter:
    def __init__(self, adjacency, taps):
        self.shift = (adjacency / largest_eigenvalue(adjacency)).tocsr()
        self.taps = taps

    def rows(self, nodes):
        """H is symmetric: its rows are its columns."""
        chosen = numpy.zeros((self.shift.shape[0], len(nodes)))
        chosen[nodes, numpy.arange(len(nodes))] = 1.0
        return numpy.ascontiguousarray(self.times(chosen).T)

    def times(self, x):
        x = x.astype(numpy.float64)
        total = x
        for _ in range(self.taps - 1):
            total = x + self.shift @ total
        return total.astype(numpy.float32)

    def cost(self):
        return SPARSE_COST * (self.shift.nnz + PASS_COST * self.shift.shape[0]) * (self.taps - 1)

    def product(self):
        shift = SplitMatrix(self.shift)

        def horner(x):
            total = x
            for _ in range(self.taps - 1):
                total = x + shift(total)
            return total

        return horner


def make_filter(kind, dataset, shells, taps):
    if kind == "gf":
        return PolynomialFilter(dataset.adjacency, taps)
    return NeighbourhoodFilter(shells, taps, dataset.largest)


# Constant matrices and their products


def cheapest_split(entries, rest, rows, columns):
    """Cost of a column, and the dense rows: `rows`, which hold `entries` in `columns`, or none."""
    dense, sparse = rows * columns, SPARSE_COST * entries
    return SPARSE_COST * rest + min(dense, sparse), rows if dense < sparse else 0


def sparse_tensor(matrix):
    matrix = matrix.tocsr()
    matrix.sort_indices()
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(numpy.int64)),
        torch.from_numpy(matrix.indices.astype(numpy.int64)),
        torch.from_numpy(matrix.data.astype(numpy.float32)), size=matrix.shape,
    )


class SparseProduct(torch.autograd.Function):
    """Torch's own gradient transposes the matrix each time."""

    @staticmethod
    def forward(context, matrix, transposed, x):
        context.transposed = transposed
        return matrix @ x

    @staticmethod
    def backward(context, gradient):
        return None, None, context.transposed @ gradient.contiguous()


class SplitMatrix:
    """A constant matrix whose first rows are dense, zero beyond some column, and whose others are sparse."""

    def __init__(self, rest, dense=None):
        self.dense = None if dense is None else torch.from_numpy(numpy.ascontiguousarray(dense))
        self.rest, self.transposed = None, None
        if rest.shape[0] > 0:
            self.rest, self.transposed = sparse_tensor(rest), sparse_tensor(rest.T)

    def __call__(self, x):
        parts = []
        if self.dense is not None:
            width = self.dense.shape[1]
            parts.append(self.dense @ (x if width == x.shape[0] else x[:width]))
        if self.rest is not None:
            parts.append(SparseProduct.apply(self.rest, self.transposed, x))
        return parts[0] if len(parts) == 1 else torch.cat(parts)


def filtered_features(graph_filter, dataset):
    """H X, and the cost of a column of H X Theta."""
    product = graph_filter.times(dataset.features.toarray().astype(numpy.float32))
    entries = numpy.count_nonzero(product[: dataset.largest])
    rest = numpy.count_nonzero(product[dataset.largest :])
    cost, rows = cheapest_split(entries, rest, dataset.largest, product.shape[1])
    dense = product[:rows] if rows else None
    return SplitMatrix(scipy.sparse.csr_matrix(product[rows:]), dense), cost


class FirstLayer:
    """Theta -> H X Theta, in the order that costs less: that of `order`, or of H X once and H (X Theta)."""

    def __init__(self, graph_filter, dataset, order=None):
        once, cost_once = filtered_features(graph_filter, dataset)
        cost_each = graph_filter.cost() + SPARSE_COST * dataset.features.nnz
        self.order = order or ("once" if cost_once <= cost_each else "each")
        if self.order == "once":
            self.product = once
            return
        features = SplitMatrix(dataset.features)
        product = graph_filter.product()
        self.product = lambda theta: product(features(theta))
