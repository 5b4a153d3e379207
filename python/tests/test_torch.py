"""The layer and the transforms for PyTorch, against autograd, dense matrices and finite differences."""

import copy
import io
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import edge_index_of, random_matrix, scipy_hops

import ngf

torch = pytest.importorskip("torch")
from ngf.torch import AddHopDistances, KHopEdges, NeighborhoodConv  # noqa: E402

#  0 - 1 - 2 - 3    4
EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def edges_of(matrix):
    return torch.from_numpy(edge_index_of(matrix))


def inputs(nodes, width, **options):
    generator = torch.Generator().manual_seed(nodes)
    return torch.randn(nodes, width, generator=generator, dtype=torch.float64, **options)


def layer(*widths, **options):
    """With biases that are not 0, in double."""
    torch.manual_seed(1)
    conv = NeighborhoodConv(*widths, **options).double()
    with torch.no_grad():
        for parameter in conv.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return conv


def dense_filter(conv, matrix):
    """The layer's filter as a dense tensor that autograd sees through. Its rows are the ends of arcs."""
    H = 0
    hops = scipy_hops(matrix.T)
    for k, tap in enumerate(conv.taps):
        shell = (hops == k).astype(float)
        rows, columns = (np.maximum(shell.sum(axis=axis), 1) for axis in (1, 0))
        if k > 0 and conv.normalize == "symmetric":
            shell = shell / np.sqrt(rows)[:, None] / np.sqrt(columns)
        elif k > 0 and conv.normalize == "row":
            shell = shell / rows[:, None]
        H = H + tap * torch.from_numpy(shell)
    return H


def dense_forward(conv, x, matrix):
    y = dense_filter(conv, matrix) @ x @ conv.weight
    return y if conv.bias is None else y + conv.bias


# Autograd hands gradients over as they fall out: as views of one number, of one row, of columns.
LOSSES = {
    "sum": lambda y: y.sum(),
    "mean": lambda y: y.mean(),
    "squares": lambda y: (y**2).sum(),
    "of columns": lambda y: y.sum(0).pow(2).sum(),
    "of rows": lambda y: y.sum(1).pow(2).sum(),
    "of one row": lambda y: y[3].sum(),
    "transposed": lambda y: y.t().contiguous().pow(3).sum(),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("normalize", ["none", "symmetric", "row"])
@pytest.mark.parametrize("widths", [(2, 5), (5, 2), (4, 1), (1, 4), (1, 1)])
@pytest.mark.parametrize("loss", LOSSES)
def test_layers_are_those_of_autograd(loss, widths, normalize, directed):
    """The answer and all gradients."""
    matrix = random_matrix(20, 3, directed)
    conv = layer(*widths, hops=3, normalize=normalize)
    loss = LOSSES[loss]
    results = []
    for forward in [lambda x: conv(x, edges_of(matrix)), lambda x: dense_forward(conv, x, matrix)]:
        x = inputs(20, widths[0], requires_grad=True)
        conv.zero_grad(set_to_none=True)
        y = forward(x)
        loss(y).backward()
        results.append([y.detach(), x.grad, conv.weight.grad, conv.taps.grad, conv.bias.grad])
    for own, expected in zip(*results):
        torch.testing.assert_close(own, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("widths", [(2, 3), (3, 2), (3, 1)])
def test_gradients_by_finite_differences(widths, directed):
    edges = edges_of(random_matrix(12, 3, directed))
    conv = layer(*widths, hops=2)

    def forward(x, weight, taps, bias):
        own = copy.deepcopy(conv)
        for name, value in [("weight", weight), ("taps", taps), ("bias", bias)]:
            delattr(own, name)
            setattr(own, name, value)
        return own(x, edges)

    parameters = [value.detach().clone().requires_grad_() for value in (conv.weight, conv.taps, conv.bias)]
    assert torch.autograd.gradcheck(forward, (inputs(12, widths[0], requires_grad=True), *parameters))
    # Of each alone, as where the others are fixed.
    for free in range(4):
        values = [inputs(12, widths[0]), *(value.detach().clone() for value in parameters)]
        values[free].requires_grad_()
        assert torch.autograd.gradcheck(forward, tuple(values))


@pytest.mark.parametrize("x", [
    torch.ones(1, 3).expand(5, 3), torch.ones(1, 1).expand(5, 3), torch.arange(15.).reshape(3, 5).t(),
    torch.arange(30.).reshape(5, 6)[:, 2:5], torch.arange(30.).reshape(10, 3)[::2]
], ids=["expanded rows", "expanded", "transposed", "columns", "every other row"])
def test_layouts(x):
    for width in [1, 2, 5]:
        conv = NeighborhoodConv(3, width, hops=2)
        torch.testing.assert_close(conv(x, EDGES), conv(x.clone().contiguous(), EDGES))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision(dtype):
    conv = NeighborhoodConv(3, 2, hops=2).to(dtype)
    y = conv(torch.ones(5, 3, dtype=dtype), EDGES)
    y.sum().backward()
    assert y.dtype == dtype
    assert all(parameter.grad.dtype == dtype for parameter in conv.parameters())


def test_it_learns():
    """The taps of a filter, from what it does."""
    matrix = random_matrix(60)
    x = inputs(60, 4)
    wanted = torch.from_numpy(ngf.NeighborhoodFilter(matrix, [0.2, 0.7, -0.3], "symmetric") @ x.numpy())
    conv = NeighborhoodConv(4, 4, hops=2, bias=False).double()
    with torch.no_grad():
        conv.weight.copy_(torch.eye(4))
    conv.weight.requires_grad_(False)
    optimizer = torch.optim.Adam([conv.taps], lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(conv(x, edges_of(matrix)), wanted).backward()
        optimizer.step()
    np.testing.assert_allclose(conv.taps.detach(), [0.2, 0.7, -0.3], atol=1e-2)


def test_fixed_taps_get_no_gradient():
    for taps, expected in [("fixed", [1 / 3] * 3), ([1, 0.5, 0.25], [1, 0.5, 0.25]), (np.array([1, 2, 3]), [1, 2, 3])]:
        conv = NeighborhoodConv(3, 2, hops=2, taps=taps)
        conv(torch.ones(5, 3), EDGES).sum().backward()
        assert conv.taps.grad is None and conv.weight.grad is not None
        assert "taps" not in dict(conv.named_parameters()) and "taps" in conv.state_dict()
        np.testing.assert_allclose(conv.taps, expected, rtol=1e-6)
    conv = NeighborhoodConv(3, 2, hops=2)
    conv.taps.requires_grad_(False)
    conv(torch.ones(5, 3), EDGES).sum().backward()
    assert conv.taps.grad is None


def test_without_gradients():
    conv = NeighborhoodConv(3, 2, hops=2)
    x = torch.ones(5, 3)
    expected = conv(x, EDGES).detach()
    with torch.no_grad():
        y = conv(x, EDGES)
    assert not y.requires_grad
    torch.testing.assert_close(y, expected)


def test_parameters():
    conv = NeighborhoodConv(3, 2, hops=2)
    assert set(dict(conv.named_parameters())) == {"weight", "taps", "bias"}
    assert conv.weight.shape == (3, 2) and conv.taps.shape == (3, ) and conv.bias.shape == (2, )
    bare = NeighborhoodConv(3, 2, hops=2, bias=False)
    assert bare.bias is None and set(dict(bare.named_parameters())) == {"weight", "taps"}
    torch.testing.assert_close(bare(torch.zeros(5, 3), EDGES), torch.zeros(5, 2))


def test_state_there_and_back():
    x = torch.ones(5, 3)
    for taps in ["learned", "fixed", [1, 2, 3]]:
        conv = NeighborhoodConv(3, 2, hops=2, taps=taps)
        with torch.no_grad():
            conv.taps.mul_(2)
        file = io.BytesIO()
        torch.save(conv.state_dict(), file)
        file.seek(0)
        other = NeighborhoodConv(3, 2, hops=2, taps=taps)
        other.load_state_dict(torch.load(file))
        torch.testing.assert_close(other(x, EDGES), conv(x, EDGES))
        torch.testing.assert_close(copy.deepcopy(conv)(x, EDGES), conv(x, EDGES))


def test_parameters_begin_anew():
    conv = NeighborhoodConv(30, 20, hops=2)
    with torch.no_grad():
        for parameter in conv.parameters():
            parameter.fill_(9)
    conv.reset_parameters()
    np.testing.assert_allclose(conv.taps.detach(), [1 / 3] * 3, rtol=1e-6)
    assert torch.all(conv.bias == 0)
    bound = (6 / 50)**0.5
    assert 0.5 * bound < conv.weight.abs().max() <= bound
    fixed = NeighborhoodConv(3, 2, hops=1, taps=[3, 4])
    fixed.reset_parameters()
    assert fixed.taps.tolist() == [3, 4]


def test_repr():
    assert repr(NeighborhoodConv(3, 2, hops=2)) == \
        "NeighborhoodConv(3, 2, hops=2, normalize='symmetric', taps=learned, bias=True)"
    assert "taps=[1.0, 2.0]" in repr(NeighborhoodConv(3, 2, hops=1, taps=[1, 2], bias=False))
    assert repr(AddHopDistances(3)) == "AddHopDistances(max_hops=3)"
    assert repr(KHopEdges(3)) == "KHopEdges(hops=3)"


def test_graphs_are_known_by_their_content(monkeypatch):
    made = []
    build = ngf._engine.NeighborhoodFilter
    monkeypatch.setattr(ngf._engine, "NeighborhoodFilter", lambda *args: made.append(1) or build(*args))
    edges = edges_of(random_matrix(31, seed=77))
    x = inputs(31, 3)
    conv = layer(3, 2, hops=2)
    first = conv(x, edges)
    assert len(made) == 1
    # Another tensor, another layout, another layer: the same graph.
    for same in [edges.clone(), edges.t().contiguous().t()]:
        torch.testing.assert_close(conv(x, same), first)
    layer(3, 5, hops=2)(x, edges)
    assert len(made) == 1
    # The same tensor with another edge: another graph.
    changed = edges.clone()
    changed[:, 0] = torch.tensor([0, 30])
    assert not torch.allclose(conv(x, changed), first)
    edges.copy_(changed)
    torch.testing.assert_close(conv(x, edges), conv(x, changed))
    assert len(made) == 2
    layer(3, 2, hops=3)(x, edges)
    layer(3, 2, hops=2, normalize="row")(x, edges)
    layer(3, 2, hops=2, min_paths=2)(x, edges)
    conv(torch.cat([x, x[:1]]), edges)
    assert len(made) == 6


def test_many_graphs_one_after_another():
    """More than are kept."""
    conv = layer(3, 2, hops=2)
    x = inputs(20, 3)
    graphs = [edges_of(random_matrix(20, seed=seed)) for seed in range(40)]
    first = [conv(x, edges) for edges in graphs]
    for edges, expected in zip(graphs, first):
        torch.testing.assert_close(conv(x, edges), expected)


def test_several_graphs_side_by_side():
    """As PyG's batches have them."""
    conv = layer(3, 2, hops=2)
    sizes = [7, 1, 12]
    graphs = [edges_of(random_matrix(nodes)) for nodes in sizes]
    signals = [inputs(nodes, 3) for nodes in sizes]
    starts = np.cumsum([0, *sizes])
    union = torch.cat([edges + int(start) for edges, start in zip(graphs, starts)], dim=1)
    together = conv(torch.cat(signals), union)
    apart = torch.cat([conv(x, edges) for x, edges in zip(signals, graphs)])
    torch.testing.assert_close(together, apart)


def test_batches_of_pyg():
    data_of = pytest.importorskip("torch_geometric.data")
    loader_of = pytest.importorskip("torch_geometric.loader")
    graphs = [data_of.Data(x=inputs(nodes, 3), edge_index=edges_of(random_matrix(nodes))) for nodes in [7, 5, 12]]
    conv = layer(3, 2, hops=2)
    batch = next(iter(loader_of.DataLoader(graphs, batch_size=3)))
    apart = torch.cat([conv(data.x, data.edge_index) for data in graphs])
    torch.testing.assert_close(conv(batch.x, batch.edge_index), apart)


def test_one_hop_is_a_sum_of_messages():
    """As PyG's own layer has it."""
    nn = pytest.importorskip("torch_geometric.nn")
    edges = edges_of(random_matrix(20, directed=True))
    x = inputs(20, 3)
    theirs = nn.GraphConv(3, 2, bias=False).double()
    ours = NeighborhoodConv(3, 2, hops=1, normalize="none", taps=[0, 1], bias=False).double()
    with torch.no_grad():
        theirs.lin_root.weight.zero_()
        ours.weight.copy_(theirs.lin_rel.weight.t())
    torch.testing.assert_close(ours(x, edges), theirs(x, edges))


def test_in_a_network_of_pyg():
    nn = pytest.importorskip("torch_geometric.nn")
    data_of = pytest.importorskip("torch_geometric.data")
    transforms = pytest.importorskip("torch_geometric.transforms")
    network = nn.Sequential("x, edge_index", [(NeighborhoodConv(3, 8, hops=2), "x, edge_index -> x"),
                                              torch.nn.ReLU(), (NeighborhoodConv(8, 2, hops=2), "x, edge_index -> x")])
    network(torch.ones(5, 3), EDGES).sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
    data = data_of.Data(x=torch.ones(5, 3), edge_index=EDGES)
    data = transforms.Compose([AddHopDistances(3), KHopEdges(2)])(data)
    assert data.hop_distances.shape == (5, 5) and data.edge_index_2.shape == (2, 4)
    assert data.num_nodes == 5


def test_arcs_have_directions():
    #  0 -> 1 -> 2: what stands at 0 reaches 2, as messages of PyG do.
    arcs = torch.tensor([[0, 1], [1, 2]])
    conv = NeighborhoodConv(1, 1, hops=2, normalize="none", taps=[1, 10, 100], bias=False)
    with torch.no_grad():
        conv.weight.fill_(1)
    y = conv(torch.tensor([[1.], [2.], [4.]]), arcs)
    assert y.flatten().tolist() == [1, 2 + 10, 4 + 20 + 100]


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_types_of_edges(index):
    conv = NeighborhoodConv(3, 2, hops=2)
    torch.testing.assert_close(conv(torch.ones(5, 3), EDGES.to(index)), conv(torch.ones(5, 3), EDGES))


def test_no_edges_and_no_nodes():
    conv = NeighborhoodConv(3, 2, hops=2, taps=[2, 1, 1], bias=False)
    none = torch.zeros((2, 0), dtype=torch.long)
    x = torch.ones(4, 3)
    torch.testing.assert_close(conv(x, none), 2 * x @ conv.weight)
    y = conv(torch.ones(0, 3), none)
    y.sum().backward()
    assert y.shape == (0, 2)


def test_no_hops():
    conv = NeighborhoodConv(3, 2, hops=0)
    x = torch.ones(5, 3)
    torch.testing.assert_close(conv(x, EDGES), x @ conv.weight)


@pytest.mark.parametrize("call, told", [
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 3, device="meta"), EDGES), "meta"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 3), EDGES.to("meta")), "edge_index is on meta"),
    (lambda: NeighborhoodConv(3, 2, 2).to("meta")(torch.ones(5, 3), EDGES), "meta"),
    (lambda: NeighborhoodConv(2, 3, 2).to("meta")(torch.ones(5, 2), EDGES), "meta"),
    (lambda: NeighborhoodConv(3, 2, 2).half()(torch.ones(5, 3).half(), EDGES), "float16"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 3).long(), EDGES), "int64"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 4), EDGES), "N x 3"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5), EDGES), "N x 3"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(2, 5, 3), EDGES), "N x 3"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 3), EDGES[0]), "2 x E"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 3), EDGES.t()), "2 x E"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 3), EDGES.float()), "whole numbers"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(5, 3), -EDGES), "node -"),
    (lambda: NeighborhoodConv(3, 2, 2)(torch.ones(3, 3), EDGES), "node 3"),
    (lambda: NeighborhoodConv(3, 2, -1), "hops is -1"),
    (lambda: NeighborhoodConv(3, 2, 1.5), "hops is 1.5"),
    (lambda: NeighborhoodConv(3, 2, True), "hops is True"),
    (lambda: NeighborhoodConv(3, 2, 2, taps="learnt"), "learned"),
    (lambda: NeighborhoodConv(3, 2, 2, taps=[1, 2]), "there must be 3"),
    (lambda: NeighborhoodConv(3, 2, 2, normalize="rows")(torch.ones(5, 3), EDGES), "symmetric"),
    (lambda: NeighborhoodConv(3, 2, 2, min_paths=4)(torch.ones(5, 3), EDGES), "min_paths is 4"),
    (lambda: KHopEdges(-1), "hops is -1"),
])
def test_errors(call, told):
    with pytest.raises(ValueError) as error:
        call()
    assert told in str(error.value)


def test_edges_that_are_no_tensor_are_taken_or_refused_clearly():
    conv = NeighborhoodConv(3, 2, hops=2)
    try:
        y = conv(torch.ones(5, 3), EDGES.numpy())
    except (TypeError, ValueError) as error:
        assert "edge_index" in str(error)
    else:
        torch.testing.assert_close(y, conv(torch.ones(5, 3), EDGES))


def test_the_number_of_hops_must_be_said(monkeypatch):
    """Before room for so many taps is asked for."""
    monkeypatch.setattr(torch, "full", lambda *args: pytest.fail(f"room for {args[0]} taps"))
    with pytest.raises(ValueError, match="hops"):
        NeighborhoodConv(3, 2, hops=None)


def data_of(matrix):
    return SimpleNamespace(edge_index=edges_of(matrix), num_nodes=matrix.shape[0])


@pytest.mark.parametrize("directed", [False, True])
def test_hop_distances(directed):
    matrix = random_matrix(30, 1.5, directed)
    expected = scipy_hops(matrix)
    data = data_of(matrix)
    assert AddHopDistances()(data) is data
    assert data.hop_distances.dtype == torch.int64
    np.testing.assert_array_equal(data.hop_distances, np.where(np.isinf(expected), -1, expected))
    capped = AddHopDistances(2, name="near")(data).near
    np.testing.assert_array_equal(capped, np.where(expected > 2, 3, expected))


def test_hop_distances_of_long_paths():
    path = sp.diags([np.ones(299)] * 2, [-1, 1], format="csr")
    hops = AddHopDistances()(data_of(path)).hop_distances
    assert hops.max() == 299 and hops[0, 299] == 299


def test_hop_distances_of_no_nodes():
    assert AddHopDistances()(data_of(sp.csr_array((0, 0)))).hop_distances.shape == (0, 0)


@pytest.mark.parametrize("directed", [False, True])
def test_pairs_so_many_hops_apart(directed):
    matrix = random_matrix(30, 2, directed)
    hops = scipy_hops(matrix)
    data = data_of(matrix)
    before = data.edge_index.clone()
    assert KHopEdges(3)(data) is data
    for k in [1, 2, 3]:
        ends = getattr(data, f"edge_index_{k}")
        assert ends.dtype == torch.int64
        np.testing.assert_array_equal(ends, np.nonzero(hops == k))
    assert torch.equal(data.edge_index, before) and not hasattr(data, "edge_index_0")
    named = KHopEdges(1, name="pairs")(data_of(matrix)).pairs_1
    assert torch.equal(named, data.edge_index_1)
