"""Filters against matrices that are written out, and as operators of SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from conftest import KARATE, random_matrix, run_python, scipy_hops

import ngf

NORMALIZE = ["none", "lmax", "symmetric", "row"]
SHIFTS = ["adjacency", "adjacency-lmax", "laplacian", "normalized-laplacian", "gcn"]
STORAGE = ["sparse", "dense", "stream"]
TAPS = [0.5, -1.0, 0.25, 0.125]


def inverse(values):
    """1 / values; 0 stays 0."""
    return np.divide(1, values, out=np.zeros(len(values)), where=values != 0)


def largest(matrix, symmetric):
    if not matrix.any():
        return 1
    return np.linalg.eigvalsh(matrix).max() if symmetric else np.linalg.norm(matrix, 2)


def shell_matrix(matrix, k, normalize, directed):
    shell = (scipy_hops(matrix) == k).astype(float)
    if k == 0 or normalize == "none":
        return shell
    rows, columns = shell.sum(axis=1), shell.sum(axis=0)
    if normalize == "lmax":
        return shell / largest(shell, not directed)
    if normalize == "symmetric":
        return np.sqrt(inverse(rows))[:, None] * shell * np.sqrt(inverse(columns))
    return inverse(rows)[:, None] * shell


def shift_matrix(matrix, shift, directed):
    A = matrix.toarray()
    degrees = A.sum(axis=1)
    if shift == "adjacency":
        return A
    if shift == "adjacency-lmax":
        return A / largest(A, not directed)
    if shift == "laplacian":
        return np.diag(degrees) - A
    if shift == "normalized-laplacian":
        root = np.sqrt(inverse(degrees))
        return np.diag((degrees > 0).astype(float)) - root[:, None] * A * root
    root = np.sqrt(inverse(degrees + 1))
    return root[:, None] * (A + np.eye(len(A))) * root


def neighborhood_matrix(matrix, taps, normalize="none", directed=False):
    """The filter as a matrix. Rows of taps belong to the rows of it."""
    shells = [shell_matrix(matrix, k, normalize, directed) for k in range(np.shape(taps)[-1])]
    return sum(np.reshape(h, (-1, 1)) * A for h, A in zip(np.moveaxis(np.asarray(taps), -1, 0), shells))


def polynomial_matrix(matrix, taps, shift="adjacency", directed=False):
    S = shift_matrix(matrix, shift, directed)
    powers = [np.linalg.matrix_power(S, k) for k in range(np.shape(taps)[-1])]
    return sum(np.reshape(h, (-1, 1)) * P for h, P in zip(np.moveaxis(np.asarray(taps), -1, 0), powers))


def signals(nodes, width=5, dtype=np.float64, seed=2):
    return np.random.default_rng(seed).normal(size=(nodes, width)).astype(dtype)


def check_operator(H, expected, dtype, tolerance):
    """All ways to apply it, and its transpose."""
    nodes = len(expected)
    X = signals(nodes, dtype=dtype)
    bound = tolerance * max(1, np.abs(expected).sum(axis=1).max())
    products = [(H @ X, expected @ X), (H.matmat(X), expected @ X), (H.T @ X, expected.T @ X),
                (H.H @ X, expected.T @ X), (H.adjoint() @ X, expected.T @ X), (H.rmatmat(X), expected.T @ X),
                (H.apply(X), expected @ X), (H.apply(X, transpose=True), expected.T @ X),
                (H @ X[:, 0], expected @ X[:, 0]), (H.matvec(X[:, 0]), expected @ X[:, 0]),
                (H.rmatvec(X[:, 0]), expected.T @ X[:, 0]), (H.T @ X[:, 0], expected.T @ X[:, 0]),
                (H @ X[:, :1], expected @ X[:, :1]), (H.T @ X[:, :1], expected.T @ X[:, :1])]
    for product, wanted in products:
        assert product.dtype == dtype and product.shape == wanted.shape
        np.testing.assert_allclose(product, wanted, rtol=0, atol=bound)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("normalize", NORMALIZE)
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-9)])
def test_neighborhood_filter(dtype, tolerance, normalize, directed, storage):
    matrix = random_matrix(70, 3, directed)
    expected = neighborhood_matrix(matrix, TAPS, normalize, directed)
    H = ngf.NeighborhoodFilter(matrix, TAPS, normalize, storage=storage, dtype=dtype)
    assert H.shape == (70, 70) and H.dtype == dtype and H.storage == storage
    check_operator(H, expected, dtype, tolerance)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-9)])
def test_polynomial_filter(dtype, tolerance, shift, weighted):
    matrix = random_matrix(60, 3, weighted=weighted)
    H = ngf.PolynomialFilter(matrix, TAPS, shift, dtype=dtype)
    check_operator(H, polynomial_matrix(matrix, TAPS, shift), dtype, tolerance)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", ["adjacency", "adjacency-lmax"])
def test_polynomial_filter_of_a_directed_graph(shift, weighted):
    matrix = random_matrix(60, 3, directed=True, weighted=weighted)
    H = ngf.PolynomialFilter(matrix, TAPS, shift)
    check_operator(H, polynomial_matrix(matrix, TAPS, shift, directed=True), np.float64, 1e-9)


@pytest.mark.parametrize("nodes", [0, 1, 2, 63, 64, 65])
def test_small_graphs(nodes):
    matrix = random_matrix(nodes, 2)
    X = signals(nodes, 3)
    H = ngf.NeighborhoodFilter(matrix, TAPS)
    P = ngf.PolynomialFilter(matrix, TAPS)
    np.testing.assert_allclose(H.apply(X), neighborhood_matrix(matrix, TAPS) @ X, atol=1e-12)
    np.testing.assert_allclose(P.apply(X), polynomial_matrix(matrix, TAPS) @ X, atol=1e-12)
    assert H.apply(X[:, :0]).shape == (nodes, 0)


def test_graphs_without_edges():
    X = signals(5)
    for H in [ngf.NeighborhoodFilter(sp.csr_array((5, 5)), [2, 1, 1], "lmax"),
              ngf.PolynomialFilter(sp.csr_array((5, 5)), [2, 1, 1], "adjacency-lmax")]:
        np.testing.assert_allclose(H @ X, 2 * X)


def test_paths_that_must_be_several():
    H = ngf.NeighborhoodFilter(KARATE, [0, 0, 1], min_paths=2)
    np.testing.assert_allclose(H @ np.eye(34), ngf.khop(KARATE, 2, min_paths=2).toarray())


WHOLE = signals(140, 12)
LAYOUTS = {
    "Fortran": np.asfortranarray(WHOLE[:70]),
    "rows": WHOLE[10:80],
    "every other row": WHOLE[::2],
    "columns": WHOLE[:70, 3:7],
    "one column": WHOLE[:70, 3:4],
    "a column, flat": WHOLE[:70, 3],
    "every other column": WHOLE[:70, ::2],
    "rows backwards": WHOLE[69::-1],
    "columns backwards": WHOLE[:70, ::-1],
    "flat backwards": WHOLE[69::-1, 0],
    "transposed": WHOLE[:12, :].T.repeat(6, axis=0)[:70],
    "the same row again and again": np.broadcast_to(WHOLE[5], (70, 12)),
    "the same number again and again": np.broadcast_to(WHOLE[5, 5], (70, 3)),
    "one column of the same number": np.broadcast_to(WHOLE[5, 5:6], (70, 1)),
    "a window that slides": np.lib.stride_tricks.sliding_window_view(WHOLE.ravel()[:73], 4),
    "big endian": WHOLE[:70].astype(">f8"),
    "float16": WHOLE[:70].astype(np.float16),
    "long double": WHOLE[:70].astype(np.longdouble),
    "whole": np.arange(210).reshape(70, 3),
    "unsigned": np.arange(70, dtype=np.uint8),
    "bool": WHOLE[:70] > 0,
    "a field": np.array([(0, x) for x in WHOLE[:70, 0]], dtype=[("a", "i4"), ("b", "f8")])["b"],
    "matrix of Fortran, single": np.asfortranarray(WHOLE[:70], np.float32),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    matrix = random_matrix(70, 3)
    X = LAYOUTS[layout]
    before = X.copy()
    for H, expected in [(ngf.NeighborhoodFilter(matrix, TAPS), neighborhood_matrix(matrix, TAPS)),
                        (ngf.NeighborhoodFilter(matrix, TAPS, storage="dense"), neighborhood_matrix(matrix, TAPS)),
                        (ngf.PolynomialFilter(matrix, TAPS), polynomial_matrix(matrix, TAPS))]:
        Y = H.apply(X)
        tolerance = 1e-3 if X.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(Y, expected @ X.astype(float), rtol=tolerance, atol=tolerance)
        assert Y.dtype == (np.float32 if X.dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(X, before)


def test_what_may_not_be_written_can_be_read():
    X = signals(34)
    X.flags.writeable = False
    H = ngf.NeighborhoodFilter(KARATE, TAPS)
    np.testing.assert_array_equal(H @ X, H @ X.copy())


def test_signals_may_be_lists():
    H = ngf.NeighborhoodFilter(KARATE, TAPS)
    np.testing.assert_allclose(H.apply([1] * 34), H @ np.ones(34))


def test_a_column_is_the_same_beside_others():
    X = signals(70, 12)
    for H in [ngf.NeighborhoodFilter(random_matrix(70), TAPS), ngf.PolynomialFilter(random_matrix(70), TAPS)]:
        Y = H @ X
        for first in range(10):
            np.testing.assert_allclose(H @ X[:, first:first + 2], Y[:, first:first + 2], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [ngf.NeighborhoodFilter, ngf.PolynomialFilter])
def test_out(make, dtype):
    H = make(KARATE, TAPS)
    X = signals(34, 6, dtype)
    expected = H.apply(X)
    whole = np.full((40, 12), 7, dtype)
    fields = np.zeros((34, 6), [("a", dtype), ("b", np.int16)])
    for out in [np.empty_like(X), whole[:34, 2:8], np.empty((68, 6), dtype)[::2], np.empty((34, 6), dtype, order="F"),
                np.empty_like(X)[::-1, ::-1], np.empty((34, 12), dtype)[:, ::2], fields["a"]]:
        assert H.apply(X, out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert np.all(whole[34:] == 7) and np.all(whole[:, :2] == 7) and np.all(whole[:, 8:] == 7)
    assert np.all(fields["b"] == 0)
    H.apply(X, transpose=True, out=out)
    np.testing.assert_array_equal(out, H.apply(X, transpose=True))


def test_out_of_one_dimension():
    H = ngf.NeighborhoodFilter(KARATE, TAPS)
    x = signals(34)[:, 0]
    for out in [np.empty(34), np.empty(68)[::2], np.empty((34, 3))[:, 1], np.empty(34)[::-1],
                np.zeros(34, [("a", "f8"), ("b", "f4")])["a"]]:
        assert H.apply(x, out=out) is out
        np.testing.assert_allclose(out, H @ x)


def test_out_may_lie_beside_the_signals():
    """Between them, where they do not overlap."""
    H = ngf.NeighborhoodFilter(KARATE, TAPS)
    whole = signals(34, 8)
    expected = H @ whole[:, :4]
    H.apply(whole[:, :4], out=whole[:, 4:])
    np.testing.assert_allclose(whole[:, 4:], expected)


def test_out_that_does_not_fit_is_refused():
    H = ngf.NeighborhoodFilter(KARATE, TAPS)
    X = signals(34, 6)
    before = X.copy()
    frozen = np.zeros((34, 6))
    frozen.flags.writeable = False
    for out in [np.zeros((34, 5)), np.zeros(34), np.zeros((34, 6), np.float32), np.zeros((34, 6)).tolist(), X,
                X[::-1], frozen]:
        with pytest.raises(ValueError, match="out"):
            H.apply(X, out=out)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("size, strides", [(6, (0, 8)), (400, (16, 8)), (1, (0, 0))])
def test_out_whose_rows_overlap_is_refused(size, strides):
    """In a Python of its own, since a write to the wrong place may end it."""
    run_python("""
import numpy as np, ngf
out = np.lib.stride_tricks.as_strided(np.zeros(size), (34, 6), strides)
try:
    ngf.NeighborhoodFilter("builtin:karate", [1, 2, 3]).apply(np.ones((34, 6)), out=out)
except ValueError as error:
    assert "out" in str(error), error
else:
    raise AssertionError("it was written to")
""", size=size, strides=strides)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("normalize", NORMALIZE)
def test_adjoint(normalize, directed):
    """<H x, y> = <x, H' y>."""
    H = ngf.NeighborhoodFilter(random_matrix(70, 3, directed), TAPS, normalize)
    x, y = signals(70).T[:2]
    assert np.isclose(np.dot(H @ x, y), np.dot(x, H.T @ y), rtol=1e-10)


def test_operators_can_be_combined():
    matrix = random_matrix(50)
    H, P = ngf.NeighborhoodFilter(matrix, TAPS), ngf.PolynomialFilter(matrix, TAPS)
    X = signals(50)
    np.testing.assert_allclose((H @ P - 2 * H + H.T) @ X, H @ (P @ X) - 2 * (H @ X) + H.T @ X, atol=1e-9)
    np.testing.assert_allclose((H**2) @ X, H @ (H @ X), atol=1e-9)
    assert isinstance(spl.aslinearoperator(H), spl.LinearOperator)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-4), (np.float64, 1e-9)])
def test_eigenvalues_by_scipy(dtype, tolerance):
    matrix = random_matrix(80)
    H = ngf.NeighborhoodFilter(matrix, TAPS, "symmetric", dtype=dtype)
    found = spl.eigsh(H, k=4, which="LA", v0=np.ones(80, dtype), return_eigenvectors=False)
    expected = np.linalg.eigvalsh(neighborhood_matrix(matrix, TAPS, "symmetric"))[-4:]
    np.testing.assert_allclose(np.sort(found), expected, atol=tolerance)


def test_singular_values_by_scipy():
    matrix = random_matrix(60, directed=True)
    H = ngf.NeighborhoodFilter(matrix, TAPS)
    found = spl.svds(H, k=3, v0=np.ones(60), return_singular_vectors=False)
    expected = np.linalg.svd(neighborhood_matrix(matrix, TAPS, directed=True), compute_uv=False)[:3]
    np.testing.assert_allclose(np.sort(found)[::-1], expected, rtol=1e-8)


def test_systems_by_scipy():
    """(I + L) x = b, and the same for shells with a heavy diagonal."""
    matrix = random_matrix(80)
    b = signals(80)[:, 0]
    for H, expected in [(ngf.PolynomialFilter(matrix, [1, 1], "laplacian"),
                         polynomial_matrix(matrix, [1, 1], "laplacian")),
                        (ngf.NeighborhoodFilter(matrix, [2, 0.5, 0.25], "symmetric"),
                         neighborhood_matrix(matrix, [2, 0.5, 0.25], "symmetric"))]:
        x, failed = spl.cg(H, b, atol=1e-12)
        assert not failed
        np.testing.assert_allclose(x, np.linalg.solve(expected, b), atol=1e-4)


@pytest.mark.parametrize("storage", STORAGE)
def test_threads_do_not_matter(storage):
    matrix = random_matrix(300)
    X = signals(300, 9, np.float32)
    one, many = (ngf.NeighborhoodFilter(matrix, TAPS, "symmetric", storage=storage, threads=threads)
                 for threads in [1, 3])
    np.testing.assert_array_equal(one @ X, many @ X)
    one, many = (ngf.PolynomialFilter(matrix, TAPS, threads=threads) for threads in [1, 3])
    np.testing.assert_array_equal(one @ X, many @ X)


def differences(loss, values, step=1e-6):
    """The gradient of a loss by central differences."""
    gradient = np.zeros_like(values)
    for place in np.ndindex(values.shape):
        moved = [values.copy(), values.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        gradient[place] = (loss(moved[0]) - loss(moved[1])) / (2 * step)
    return gradient


MAKES = [(ngf.NeighborhoodFilter, {"normalize": name}) for name in NORMALIZE]
MAKES += [(ngf.PolynomialFilter, {"shift": name}) for name in SHIFTS]


def check_gradients(H, X):
    """Of the loss |H X|^2 / 2, whose gradient by H X is H X."""
    loss = lambda taps, X: 0.5 * np.sum(H.with_taps(taps).apply(X)**2)
    by_X, by_taps = H.gradients(X, H.apply(X))
    assert by_X.shape == X.shape and by_taps.shape == H.taps.shape
    scale = 1 + np.abs(by_taps).max()
    np.testing.assert_allclose(by_X / scale, differences(lambda X: loss(H.taps, X), X) / scale, atol=1e-6)
    np.testing.assert_allclose(by_taps / scale, differences(lambda taps: loss(taps, X), H.taps) / scale, atol=1e-6)


@pytest.mark.parametrize("make, options", MAKES)
def test_gradients(make, options):
    H = make(random_matrix(20), TAPS, **options)
    check_gradients(H, signals(20, 3))
    check_gradients(H, signals(20, 3)[:, 0])


@pytest.mark.parametrize("storage", ["sparse", "dense"])
@pytest.mark.parametrize("directed", [False, True])
def test_gradients_by_storage_and_direction(directed, storage):
    matrix = random_matrix(20, directed=directed)
    check_gradients(ngf.NeighborhoodFilter(matrix, TAPS, "symmetric", storage=storage), signals(20, 3))


@pytest.mark.parametrize("make, options", MAKES)
def test_gradients_of_groups(make, options):
    taps = np.array([TAPS, TAPS[::-1], [1, 0, 0, 2]])
    check_gradients(make(random_matrix(20), taps, groups=np.arange(20) % 3, **options), signals(20, 3))


def test_gradients_in_single_precision_and_of_any_layout():
    H = ngf.NeighborhoodFilter(random_matrix(40), TAPS)
    X, G = signals(40), signals(40, seed=3)
    by_X, by_taps = H.gradients(X, G)
    np.testing.assert_allclose(by_X, H.T @ G)
    singles = H.gradients(X.astype(np.float32), G)
    assert singles[0].dtype == np.float32
    np.testing.assert_allclose(singles[0], by_X, atol=1e-4)
    np.testing.assert_allclose(singles[1], by_taps, rtol=1e-4)
    again = H.gradients(np.asfortranarray(X), G[:, ::-1].copy()[:, ::-1])
    np.testing.assert_allclose(again[0], by_X)
    np.testing.assert_allclose(again[1], by_taps)
    same = np.broadcast_to(G[:1], G.shape)
    np.testing.assert_allclose(H.gradients(X, same)[0], H.gradients(X, same.copy())[0])
    np.testing.assert_allclose(H.gradients(X, same)[1], H.gradients(X, same.copy())[1])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("index", [np.int64, np.uint8, np.int32])
def test_groups_have_taps_of_their_own(index, directed):
    matrix = random_matrix(50, directed=directed)
    groups = (np.arange(50) % 3).astype(index)
    taps = signals(3, 4)
    H = ngf.NeighborhoodFilter(matrix, taps, groups=groups)
    check_operator(H, neighborhood_matrix(matrix, taps[groups]), np.float64, 1e-9)
    np.testing.assert_array_equal(H.taps, taps)
    P = ngf.PolynomialFilter(matrix, taps, groups=groups)
    check_operator(P, polynomial_matrix(matrix, taps[groups]), np.float64, 1e-9)
    other = H.with_taps(2 * taps)
    np.testing.assert_allclose(other @ np.ones(50), 2 * (H @ np.ones(50)))


def test_a_set_of_taps_for_each_node():
    matrix = random_matrix(30)
    taps = signals(30, 3)
    H = ngf.NeighborhoodFilter(matrix, taps, "row", groups=np.arange(30))
    check_operator(H, neighborhood_matrix(matrix, taps, "row"), np.float64, 1e-9)


@pytest.mark.parametrize("make", [ngf.NeighborhoodFilter, ngf.PolynomialFilter])
def test_other_taps(make):
    X = signals(34)
    H = make(KARATE, TAPS)
    np.testing.assert_array_equal(H.taps, TAPS)
    before = H @ X
    other = H.with_taps([1, 2, 3, 4])
    assert type(other) is make and other.shape == H.shape and other.dtype == H.dtype
    np.testing.assert_allclose(other @ X, make(KARATE, [1, 2, 3, 4]) @ X)
    np.testing.assert_allclose(other.T @ X, make(KARATE, [1, 2, 3, 4]).T @ X)
    np.testing.assert_array_equal(H @ X, before)
    H.taps = [1, 2, 3, 4]
    np.testing.assert_array_equal(H @ X, other @ X)
    np.testing.assert_array_equal(H.taps, [1, 2, 3, 4])


def test_polynomials_may_have_more_taps_or_fewer():
    """Powers of a shift are not kept."""
    X = signals(34)
    P = ngf.PolynomialFilter(KARATE, TAPS)
    for taps in [[1], [1, 2], [1, 2, 3, 4, 5, 6]]:
        np.testing.assert_array_equal(P.with_taps(taps) @ X, ngf.PolynomialFilter(KARATE, taps) @ X)


def test_taps_of_any_kind():
    X = signals(34)
    expected = ngf.NeighborhoodFilter(KARATE, [1.0, 2.0]) @ X
    for taps in [(1, 2), np.array([1, 2]), np.array([1, 2], np.float32), np.array([1, 0, 2])[::2]]:
        np.testing.assert_array_equal(ngf.NeighborhoodFilter(KARATE, taps) @ X, expected)


@pytest.mark.parametrize("normalize", NORMALIZE)
def test_taps_are_found_again(normalize):
    matrix = random_matrix(60)
    X = signals(60, 4)
    found = ngf.fit_taps(matrix, X, ngf.NeighborhoodFilter(matrix, TAPS, normalize) @ X, 4, normalize=normalize)
    np.testing.assert_allclose(found.taps, TAPS, atol=1e-8)
    assert found.residual < 1e-12 and np.all(found.standard_errors < 1e-6)


@pytest.mark.parametrize("shift", SHIFTS)
def test_taps_of_polynomials_are_found_again(shift):
    matrix = random_matrix(60)
    X = signals(60, 4)
    Y = ngf.PolynomialFilter(matrix, TAPS, shift) @ X
    found = ngf.fit_taps(matrix, X, Y, 4, filter="polynomial", shift=shift)
    np.testing.assert_allclose(found.taps, TAPS, atol=1e-7)


def test_taps_by_least_squares():
    """Against NumPy's solver, with noise, in one dimension and of single precision."""
    matrix = random_matrix(60, directed=True)
    random = np.random.default_rng(5)
    x = signals(60)[:, 0]
    y = ngf.NeighborhoodFilter(matrix, TAPS) @ x + 0.1 * random.normal(size=60)
    columns = np.stack([shell @ x for shell in ngf.shells(matrix, 3)], axis=1)
    expected, left, *_ = np.linalg.lstsq(columns, y, rcond=None)
    found = ngf.fit_taps(matrix, x, y, 4)
    np.testing.assert_allclose(found.taps, expected)
    assert np.isclose(found.residual, left[0] / np.sum(y**2))
    spread = np.linalg.inv(columns.T @ columns) * left[0] / (60 - 4)
    np.testing.assert_allclose(found.standard_errors, np.sqrt(np.diag(spread)), rtol=1e-6)
    single = ngf.fit_taps(matrix, x.astype(np.float32), y.astype(np.float32), 4)
    np.testing.assert_allclose(single.taps, expected, atol=1e-4)


@pytest.mark.parametrize("directed", [False, True])
def test_largest_eigenvalue(directed):
    matrix = random_matrix(60, directed=directed)
    H = ngf.NeighborhoodFilter(matrix, TAPS, "lmax")
    for k in range(4):
        shell = shell_matrix(matrix, k, "none", directed)
        assert np.isclose(H.largest_eigenvalue(k), largest(shell, not directed), rtol=1e-6)


def test_what_a_filter_says_of_itself():
    H = ngf.NeighborhoodFilter(KARATE, TAPS, storage="dense")
    assert H.storage == "dense" and H.nbytes >= 34 * 34
    assert ngf.NeighborhoodFilter(KARATE, TAPS, storage="stream").nbytes == 0
    assert "NeighborhoodFilter" in repr(H) and "34x34" in repr(H)


def test_signals_of_torch():
    torch = pytest.importorskip("torch")
    H = ngf.NeighborhoodFilter(KARATE, TAPS)
    X = signals(34)
    for tensor in [torch.from_numpy(X), torch.from_numpy(np.ascontiguousarray(X.T)).T,
                   torch.from_numpy(X).requires_grad_()]:
        np.testing.assert_allclose(H.apply(tensor), H @ X)


def test_cora(data_folder):
    graph = ngf.as_graph("planetoid:cora")
    X = signals(graph.nodes, 8, np.float32)
    expected = sum(h * (shell @ X.astype(float)) for h, shell in zip(TAPS, ngf.shells(graph, 3)))
    for storage in STORAGE:
        Y = ngf.NeighborhoodFilter(graph, TAPS, storage=storage) @ X
        np.testing.assert_allclose(Y, expected, atol=1e-5 * np.abs(expected).max())


def pair_matrix(matrix, taps, embeddings, power=1.0, normalize="none"):
    """The filter with pair weights as a matrix, in SciPy and NumPy alone."""
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = embeddings * inverse(lengths[:, 0])[:, None]
    weights = np.maximum(unit @ unit.T, 0) ** power
    hops = scipy_hops(matrix)
    total = np.zeros(matrix.shape)
    for k in range(np.shape(taps)[-1]):
        shell = (hops == k).astype(float)
        if k > 0:
            shell *= weights
            rows, columns = shell.sum(axis=1), shell.sum(axis=0)
            if normalize == "symmetric":
                shell = np.sqrt(inverse(rows))[:, None] * shell * np.sqrt(inverse(columns))
            elif normalize == "row":
                shell = inverse(rows)[:, None] * shell
        total += np.reshape(np.asarray(taps)[..., k], (-1, 1)) * shell
    return total


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("normalize", ["none", "symmetric", "row"])
@pytest.mark.parametrize("sparse", [False, True])
def test_pair_weights(directed, normalize, sparse):
    matrix = random_matrix(70, directed=directed)
    random = np.random.default_rng(3)
    embeddings = random.normal(size=(70, 9)) * (random.random((70, 9)) < (0.2 if sparse else 1))
    embeddings[0] = 1
    embeddings[np.abs(embeddings).sum(axis=1) == 0, 0] = 1
    expected = pair_matrix(matrix, TAPS, embeddings, 1.5, normalize)
    rows = sp.csr_array(embeddings) if sparse else embeddings
    H = ngf.NeighborhoodFilter(matrix, TAPS, normalize, pair_weights=rows, pair_power=1.5)
    X, G = signals(70, 5), signals(70, 5)[::-1].copy()
    np.testing.assert_allclose(H @ X, expected @ X, atol=1e-5)
    np.testing.assert_allclose(H.T @ X, expected.T @ X, atol=1e-5)
    np.testing.assert_allclose(H @ X.astype(np.float32), expected @ X, atol=1e-4)
    by_x, by_taps = H.gradients(X, G)
    np.testing.assert_allclose(by_x, expected.T @ G, atol=1e-5)
    units = np.eye(len(TAPS))
    np.testing.assert_allclose(
        by_taps, [np.sum(G * (pair_matrix(matrix, unit, embeddings, 1.5, normalize) @ X)) for unit in units], atol=1e-4)
    other = H.with_taps([1, 2, 0, 0])
    np.testing.assert_allclose(other @ X, pair_matrix(matrix, [1, 2, 0, 0], embeddings, 1.5, normalize) @ X, atol=1e-5)
    assert H.storage == "sparse" and H.form(5) in ("short-lists", "lists")
    S = ngf.NeighborhoodFilter(matrix, TAPS, normalize, pair_weights=rows, pair_power=1.5, storage="stream")
    np.testing.assert_allclose(S @ X, expected @ X, atol=1e-5)
    np.testing.assert_allclose(S.T @ X, expected.T @ X, atol=1e-5)
    assert S.storage == "stream" and S.nbytes < H.nbytes


def test_pair_weights_of_groups():
    matrix = random_matrix(50)
    embeddings = np.random.default_rng(3).normal(size=(50, 4))
    groups = np.arange(50) % 2
    taps = np.array([[1, 0.5, 2], [0, -1, 3.0]])
    H = ngf.NeighborhoodFilter(matrix, taps, "row", groups=groups, pair_weights=embeddings)
    X = signals(50, 3)
    expected = pair_matrix(matrix, taps[groups], embeddings, 1, "row")
    np.testing.assert_allclose(H @ X, expected @ X, atol=1e-5)
    np.testing.assert_allclose(H.T @ X, expected.T @ X, atol=1e-5)


def test_pair_weights_of_features(data_folder):
    dataset = ngf.load_dataset("planetoid:cora")
    counts = sp.csr_array(dataset.features)
    present = (counts != 0).sum(axis=0)
    tf_idf = counts.toarray() * np.log(counts.shape[0] / np.maximum(present, 1))
    X = signals(dataset.graph.nodes, 4)
    expected = ngf.NeighborhoodFilter(dataset.graph, TAPS, pair_weights=sp.csr_array(tf_idf)) @ X
    for A in [dataset, "planetoid:cora"]:
        np.testing.assert_allclose(ngf.NeighborhoodFilter(A, TAPS, pair_weights="features") @ X, expected, atol=1e-4)


def test_wrong_pair_weights():
    good = np.ones((34, 2))

    def message(*args, **arguments):
        with pytest.raises((ValueError, ngf.Error)) as error:
            ngf.NeighborhoodFilter(KARATE, TAPS, *args, **arguments)
        return str(error.value)

    assert "(33, 2)" in message(pair_weights=good[1:])
    assert "NaN" in message(pair_weights=good * np.nan)
    assert "complex" in message(pair_weights=good * 1j)
    assert "features" in message(pair_weights="features")
    assert "other" in message(pair_weights="other")
    for power in [-1, np.inf, np.nan, "1"]:
        assert "pair_power" in message(pair_weights=good, pair_power=power)
    assert "lmax" in message("lmax", pair_weights=good)
    assert "storage" in message(pair_weights=good, storage="dense")
    for memory in (1000, 40_000):
        text = message(pair_weights=good, memory=memory)
        assert "a weight for each pair" in text
        enough = int(text.partition("memory=")[2])
        ngf.NeighborhoodFilter(KARATE, TAPS, pair_weights=good, memory=enough)
    good[:2] = 0
    with pytest.warns(UserWarning, match="2 of 34 nodes"):
        H = ngf.NeighborhoodFilter(KARATE, TAPS, pair_weights=good)
    with pytest.raises(ValueError, match="pair_weights"):
        H.largest_eigenvalue(1)
