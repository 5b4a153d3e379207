"""Hop distances as the attention bias of a graph transformer.

A transformer sees a set of nodes, not a graph. A learned bias per hop distance, added to the attention of each pair,
tells it which nodes are close (Ying et al., "Do Transformers Really Perform Badly for Graph Representation?", 2021):

    attention(u, v) = softmax over v of ( <q_u, k_v> / sqrt(F) + b[hops(u, v)] )

The task needs nothing else. Some nodes of small random graphs are marked, and the label of a node says whether most of
the nodes at exactly two hops from it are marked. Without hop distances, the transformer only sees how many nodes are
marked in total.

    python hop_distances_for_a_graph_transformer.py --runs 2
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import ngf
import ngf.torch

try:
    from torch_geometric.data import Data
except ImportError:  # a container of attributes is enough
    from types import SimpleNamespace as Data

NODES = 24
MAX_HOPS = 4  # farther and unreachable pairs share one bias


def make_graph(seed: int) -> Data:
    """A small world with marked nodes, and for each node whether most of the nodes at two hops are marked."""
    graph = ngf.generate.watts_strogatz(NODES, k=4, beta=0.2, seed=seed)
    marked = np.random.default_rng(seed).random(NODES) < 0.5
    second = ngf.khop(graph, 2)
    share = second @ marked / np.maximum(second.sum(axis=1), 1)
    ends = np.stack(ngf.to_scipy(graph).nonzero()).astype(np.int64)
    return Data(x=F.one_hot(torch.from_numpy(marked).long(), 2).float(), y=torch.from_numpy(share > 0.5).long(),
                edge_index=torch.from_numpy(ends), num_nodes=NODES)


def make_batch(seeds) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A batch of graphs of one size: marks, hop distances, labels."""
    add_hops = ngf.torch.AddHopDistances(MAX_HOPS)
    graphs = [add_hops(make_graph(seed)) for seed in seeds]
    return tuple(torch.stack([getattr(graph, name) for graph in graphs]) for name in ("x", "hop_distances", "y"))


class Layer(nn.Module):
    """Attention with a bias per head and hop distance, then a feed-forward network per node."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.bias_of_hop = nn.Embedding(MAX_HOPS + 2, heads)  # 0..MAX_HOPS hops, and farther
        nn.init.zeros_(self.bias_of_hop.weight)
        self.mixed = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.alone = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.ReLU(),
                                   nn.Linear(2 * width, width))

    def forward(self, x, hops):
        graphs, nodes, width = x.shape
        q, k, v = self.query_key_value(self.norm(x)).view(graphs, nodes, self.heads, -1).chunk(3, dim=-1)
        scores = torch.einsum("gnhf,gmhf->gnmh", q, k) / q.shape[-1] ** 0.5
        if hops is not None:
            scores = scores + self.bias_of_hop(hops)
        seen = torch.einsum("gnmh,gmhf->gnhf", scores.softmax(dim=2), v)
        x = x + self.mixed(seen.reshape(graphs, nodes, width))
        return x + self.alone(x)


class Transformer(nn.Module):
    def __init__(self, width: int = 32, heads: int = 4, layers: int = 2):
        super().__init__()
        self.first = nn.Linear(2, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.last = nn.Linear(width, 2)

    def forward(self, x, hops):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x, hops)
        return self.last(x)


def train(batch, with_hops: bool, seed: int, epochs: int = 150) -> Transformer:
    x, hops, y = batch
    torch.manual_seed(seed)
    model = Transformer()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(epochs):
        optimizer.zero_grad()
        F.cross_entropy(model(x, hops if with_hops else None).flatten(0, 1), y.flatten()).backward()
        optimizer.step()
    return model


@torch.no_grad()
def accuracy(model: Transformer, batch, with_hops: bool) -> float:
    x, hops, y = batch
    return (model(x, hops if with_hops else None).argmax(dim=-1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1, help="transformers of each kind, of seeds 1, 2, ... [1]")
    runs = parser.parse_args().runs

    to_learn, to_test = make_batch(range(1, 101)), make_batch(range(101, 151))
    share = to_test[2].float().mean().item()
    print("accuracy on new graphs:")
    print(f"  {'always the majority label':36}{100 * max(share, 1 - share):.1f} %")
    for with_hops in (False, True):
        models = [train(to_learn, with_hops, seed) for seed in range(1, runs + 1)]
        score = np.mean([accuracy(model, to_test, with_hops) for model in models])
        print(f"  {'transformer, ' + ('with' if with_hops else 'without') + ' hop distances':36}{100 * score:.1f} %")
    bias = models[0].layers[0].bias_of_hop.weight.detach()
    head = int((bias[2] - bias.mean(dim=0)).abs().argmax())
    hops = [*range(MAX_HOPS + 1), "farther"]
    print("what one head of it adds by hop: "
          + ", ".join(f"{hop}: {value:+.1f}" for hop, value in zip(hops, bias[:, head].tolist())))


if __name__ == "__main__":
    main()
