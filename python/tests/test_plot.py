"""Pictures: what is drawn, not how it looks."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import KARATE, random_matrix

import ngf

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn(ax):
    """Whether the picture can be drawn at all."""
    ax.figure.canvas.draw()
    return ax


def heights(ax):
    return [bar.get_height() for bar in ax.patches]


def test_axes_are_made_or_taken():
    _, own = plt.subplots()
    for draw in [lambda ax: ngf.plot.shells(KARATE, ax=ax), lambda ax: ngf.plot.filter_taps([1, 2], ax=ax),
                 lambda ax: ngf.plot.training(np.ones((5, 3)), ax=ax),
                 lambda ax: ngf.plot.signal(KARATE, np.arange(34), ax=ax)]:
        assert draw(own) is own
        new = draw(None)
        assert new is not own and new.figure is not own.figure


def test_shells():
    ax = drawn(ngf.plot.shells(KARATE))
    assert heights(ax) == [34, 156, 530, 274, 146, 16]
    assert heights(ngf.plot.shells(KARATE, 2)) == [34, 156, 530]
    assert heights(ngf.plot.shells(np.triu(np.ones((3, 3)), 1))) == [3, 3]
    assert heights(ngf.plot.shells(np.triu(np.ones((3, 3)), 1), directed=False)) == [3, 6]
    assert len(heights(drawn(ngf.plot.shells(nx.path_graph(60))))) == 60
    assert heights(drawn(ngf.plot.shells(np.zeros((0, 0))))) == []


def test_taps():
    ax = drawn(ngf.plot.filter_taps(ngf.NeighborhoodFilter(KARATE, [1, 0.5, -0.25])))
    assert ax.lines[0].get_ydata().tolist() == [1, 0.5, -0.25] and ax.get_legend() is None
    ax = ngf.plot.filter_taps([1, 2], label="own")
    assert [text.get_text() for text in ax.get_legend().texts] == ["own"]
    groups = ngf.PolynomialFilter(KARATE, [[1, 2], [3, 4]], groups=np.arange(34) % 2)
    ax = drawn(ngf.plot.filter_taps(groups))
    assert [line.get_ydata().tolist() for line in ax.lines[:2]] == [[1, 2], [3, 4]]
    assert len(ax.get_legend().texts) == 2


def test_training():
    data = ngf.generate.citation_network(300)
    train = data.split.train
    model = ngf.NodeClassifier(data, epochs=6, hidden=4, threads=1).fit(train, data.labels[train])
    ax = drawn(ngf.plot.training(model))
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), model.history_[:, 2])
    assert ax.lines[2].get_xdata()[0] == model.best_epoch_
    other = next(axes for axes in ax.figure.axes if axes is not ax)
    np.testing.assert_array_equal(other.lines[0].get_ydata(), model.history_[:, 0])
    drawn(ngf.plot.training(model.history_))


def test_training_of_what_is_not_fitted():
    with pytest.raises((ValueError, AttributeError), match="fit"):
        ngf.plot.training(ngf.NodeClassifier())


def test_layout():
    places = ngf.plot.layout(KARATE)
    assert places.shape == (34, 2) and np.all(np.isfinite(places))
    np.testing.assert_array_equal(places, ngf.plot.layout(ngf.as_graph(KARATE)))
    # The slowest mode of a path goes along it.
    along = ngf.plot.layout(nx.path_graph(20))[:, 0]
    assert np.all(np.diff(along) > 0) or np.all(np.diff(along) < 0)


@pytest.mark.parametrize("nodes", range(8))
def test_layouts_of_small_graphs(nodes):
    for matrix in [np.zeros((nodes, nodes)), np.ones((nodes, nodes)), np.eye(nodes, k=1)]:
        places = ngf.plot.layout(matrix)
        assert places.shape == (nodes, 2) and np.all(np.isfinite(places))


def test_layout_of_a_graph_in_pieces():
    """The largest is laid out as if it were alone; the others do not hide it."""
    pieces = [random_matrix(30, 6), *(np.ones((2, 2)) for _ in range(4)), np.zeros((2, 2))]
    places = ngf.plot.layout(sp.block_diag(pieces, format="csr"))
    assert np.all(np.isfinite(places))
    main = places[:30]
    assert len(np.unique(main.round(6), axis=0)) > 25
    assert np.abs(places).max() < 100 * np.abs(main).max()


def test_signal():
    x = np.arange(34.0)
    ax = drawn(ngf.plot.signal(KARATE, x, label="age"))
    lines, points = ax.collections
    assert len(lines.get_segments()) == 78
    np.testing.assert_array_equal(points.get_array(), x)
    places = np.random.default_rng(1).normal(size=(34, 2))
    ax = drawn(ngf.plot.signal(KARATE, x[:, None], positions=places))
    np.testing.assert_array_equal(ax.collections[1].get_offsets(), places)
    arcs = drawn(ngf.plot.signal(random_matrix(20, directed=True), np.ones(20)))
    assert len(arcs.collections[0].get_segments()) == random_matrix(20, directed=True).nnz


def test_signals_that_do_not_fit():
    with pytest.raises(ValueError, match="34 nodes"):
        ngf.plot.signal(KARATE, np.ones(33))
    with pytest.raises(ValueError, match="34 x 2"):
        ngf.plot.signal(KARATE, np.ones(34), positions=np.ones((34, 3)))
