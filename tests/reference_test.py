"""What the program says about every file of the data sets, against NumPy, SciPy and NetworkX.

    reference_test.py [Quick|Planetoid|DataSets|Slow]...

Each file is read here by other means: SciPy's Matrix Market reader, np.load, np.loadtxt, Python's
pickle, a few lines for METIS. Radius and diameter come from a search from each node: Quick does so
for components of up to 6,000 nodes, Slow for larger ones. The two road networks and meshes that are
larger still are sampled.
"""

import collections
import functools
import hashlib
import json
import pickle
import unittest

import networkx
import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse
from scipy.sparse import csgraph

from python_support import DATA, ProgramTest, needs_data

NO_GRAPHS = [
    "README.md", "*/README.md", "*/*.mat", "*/*.gml", "metr-la/graph_sensor_*",
    "metr-la/los_speed.csv", "molene/*.csv", "pygsp/*.xy.csv"
]
QUICK_NODES = 6000
SLOW_NODES = 20000

# The entries of a file: node pairs in its own order, and what a pair and its reverse are.
Entries = collections.namedtuple("Entries", "nodes pairs kind")
LIST = "list"  # of edges: any second listing of a pair is a duplicate
HALF = "half"  # of a symmetric matrix: the other half is implied
MATRIX = "matrix"  # u-v and v-u are two entries


def number_nodes(ids):
    """Ids of an edge list are rows when the smallest is 0 or 1 and half of the range occurs."""
    distinct = np.unique(ids)
    base, largest = int(distinct[0]), int(distinct[-1])
    if base <= 1 and 2 * len(distinct) >= largest - base + 1:
        return largest - base + 1, ids - base
    return len(distinct), np.searchsorted(distinct, ids)


def read_list(path):
    ids = np.loadtxt(path, dtype=np.int64, comments=["#", "%"], usecols=(0, 1), ndmin=2)
    return Entries(*number_nodes(ids), LIST)


def read_market(path):
    with open(path) as file:
        banner = file.readline()
    if not banner.startswith("%%"):
        table = np.loadtxt(path, ndmin=2)
        rows, columns, entries = table[0]
        assert rows == columns and entries == len(table) - 1
        return Entries(int(rows), table[1:, :2].astype(np.int64) - 1, MATRIX)
    matrix = scipy.io.mmread(path)
    pairs = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
    if "symmetric" in banner:
        # SciPy has added the other half.
        return Entries(matrix.shape[0], pairs[pairs[:, 0] >= pairs[:, 1]], HALF)
    return Entries(matrix.shape[0], pairs, MATRIX)


def read_metis(path):
    lines = [line.split() for line in path.read_text().split("\n") if not line.startswith("%")]
    nodes, _, *form = map(int, lines[0])
    form, weights = (form + [0, 1][len(form):])[:2]
    skipped = form // 100 + (form // 10 % 10) * weights
    step = 1 + form % 10
    pairs = [(row, int(word) - 1) for row, words in enumerate(lines[1:nodes + 1])
             for word in words[skipped::step]]
    return Entries(nodes, np.array(pairs, dtype=np.int64), MATRIX)


def read_table(path):
    table = np.loadtxt(path, delimiter=",")
    return Entries(len(table), np.argwhere(table != 0), MATRIX)


def read_npz(path):
    with np.load(path) as file:
        if "edges" in file:
            return Entries(len(file["node_labels"]), file["edges"], LIST)
        parts = file["adj_data"], file["adj_indices"], file["adj_indptr"]
        matrix = scipy.sparse.csr_matrix(parts, file["adj_shape"]).tocoo()
    return Entries(matrix.shape[0], np.stack([matrix.row, matrix.col], axis=1), MATRIX)


def load_pickle(name, ending):
    with open(DATA / "planetoid" / f"ind.{name}.{ending}", "rb") as file:
        return pickle.load(file, encoding="latin1")


def read_planetoid(path):
    name = path.name.split(".")[1]
    neighbours = load_pickle(name, "graph")
    pairs = [(u, v) for u, row in neighbours.items() for v in row]
    return Entries(len(neighbours), np.array(pairs, dtype=np.int64), MATRIX)


def reader_of(path):
    if path.parent.name == "planetoid":
        return read_planetoid
    if path.parent.name == "luxembourg":
        return read_list  # whatever their names say
    return {".mtx": read_market, ".graph": read_metis, ".npz": read_npz, ".csv": read_table,
            ".txt": read_list, ".edgelist": read_list, ".konect": read_list}[path.suffix]


def files():
    return sorted(path for path in DATA.rglob("*") if path.is_file())


def is_no_graph(path):
    return any(path.relative_to(DATA).match(pattern) for pattern in NO_GRAPHS)


def graph_files():
    """Of the eight files of each of Planetoid's data sets, one."""
    return [path for path in files() if not is_no_graph(path) and
            (path.parent.name != "planetoid" or path.suffix == ".graph")]


@functools.lru_cache(maxsize=None)
def entries_of(path):
    return reader_of(path)(path)


def adjacency(entries, directed):
    """The matrix of the graph, without self-loops and duplicates."""
    u, v = entries.pairs[entries.pairs[:, 0] != entries.pairs[:, 1]].T
    matrix = scipy.sparse.coo_matrix((np.ones(len(u)), (u, v)), (entries.nodes, ) * 2)
    if not directed or entries.kind == HALF:
        matrix = matrix + matrix.T
    matrix = matrix.tocsr()
    matrix.data[:] = 1  # what was there twice has been added up
    return matrix


def largest_component(matrix, connection):
    """How many components there are, and the largest; of equals, the one with the smallest node."""
    count, labels = csgraph.connected_components(matrix, connection=connection)
    sizes = np.bincount(labels)
    first = np.argmax(sizes[labels] == sizes.max())
    kept = np.flatnonzero(labels == labels[first])
    return count, matrix[kept][:, kept]


def eccentricity(matrix, source):
    order, before = csgraph.breadth_first_order(matrix, source)
    assert len(order) == matrix.shape[0]
    # The last node found is among the farthest.
    before = before.tolist()
    node, hops = order[-1], 0
    while node != source:
        node, hops = before[node], hops + 1
    return hops, order[-1]


def distinct_pairs(nodes, pairs):
    return len(np.unique(pairs[:, 0] * nodes + pairs[:, 1]))


EXTENTS = {}
INFOS = {}


def extent(matrix):
    """Radius and diameter by a search from each node, once for a graph that several files hold."""
    matrix.sort_indices()
    key = hashlib.sha256(matrix.indptr.tobytes() + matrix.indices.tobytes()).digest()
    if key not in EXTENTS:
        if matrix.shape[0] <= 300:
            graph = networkx.from_scipy_sparse_array(matrix, create_using=networkx.DiGraph)
            EXTENTS[key] = networkx.radius(graph), networkx.diameter(graph)
        else:
            all_of_them = [eccentricity(matrix, u)[0] for u in range(matrix.shape[0])]
            EXTENTS[key] = min(all_of_them), max(all_of_them)
    return EXTENTS[key]


class ReferenceTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.environment["NGF_DATA"] = str(DATA)

    def info(self, path, directed):
        """What the program says about the file, on stdout and on stderr."""
        if (path, directed) not in INFOS:
            # Some matrices have two weights for an edge that has one.
            flags = ["--json", "--directed"] if directed else ["--json", "--lenient"]
            outcome = self.succeed("info", str(path), *flags)
            INFOS[path, directed] = json.loads(outcome.out), outcome.err
        return INFOS[path, directed]

    def check_extents(self, smallest, largest):
        """For components of this many nodes."""
        checked = 0
        for path in graph_files():
            for directed in [False, True]:
                matrix = adjacency(entries_of(path), directed)
                part = largest_component(matrix, "strong")[1]
                if not smallest <= part.shape[0] <= largest:
                    continue
                with self.subTest(path=path.relative_to(DATA), directed=directed):
                    told = self.info(path, directed)[0]["largest_component"]
                    self.assertEqual((told["radius"], told["diameter"]), extent(part))
                    checked += 1
        return checked


@needs_data
class Quick(ReferenceTest):
    def test_every_file_is_known(self):
        self.assertGreater(len(graph_files()), 50)
        for path in graph_files():
            reader_of(path)

    def test_counts(self):
        for path in graph_files():
            entries = entries_of(path)
            loops = entries.pairs[:, 0] == entries.pairs[:, 1]
            pairs = entries.pairs[~loops]
            for directed in [False, True]:
                matrix = adjacency(entries, directed)
                count, largest = largest_component(matrix, "weak")
                arcs_an_edge = 1 if directed else 2
                ordered = pairs if directed or entries.kind == MATRIX else np.sort(pairs, axis=1)
                expected = {
                    "nodes": entries.nodes,
                    "edges": matrix.nnz // arcs_an_edge,
                    "self_loops": np.count_nonzero(loops),
                    "duplicates": len(pairs) - distinct_pairs(entries.nodes, ordered),
                    "directed": directed,
                    "components": count,
                }
                with self.subTest(path=path.relative_to(DATA), directed=directed):
                    told = self.info(path, directed)[0]
                    self.assertEqual({key: told[key] for key in expected}, expected)
                    told = told["largest_component"]
                    self.assertEqual((told["nodes"], told["edges"]),
                                     (largest.shape[0], largest.nnz // arcs_an_edge))

    def test_counts_of_networkx(self):
        """A second opinion, which shares nothing with the first."""
        for path in graph_files():
            entries = entries_of(path)
            if entries.nodes > QUICK_NODES or len(entries.pairs) > 50000:
                continue
            graph = networkx.Graph()
            graph.add_nodes_from(range(entries.nodes))
            graph.add_edges_from((u, v) for u, v in entries.pairs.tolist() if u != v)
            with self.subTest(path=path.relative_to(DATA)):
                told = self.info(path, False)[0]
                self.assertEqual(told["edges"], graph.number_of_edges())
                self.assertEqual(told["components"], networkx.number_connected_components(graph))

    def test_radius_and_diameter(self):
        self.assertGreater(self.check_extents(1, QUICK_NODES), 80)

    def test_radius_and_diameter_of_large_graphs(self):
        """Bounds by searches from some nodes: every eccentricity lies between the two."""
        random = np.random.default_rng(1)
        for name in ["luxembourg/luxembourg_osm.mtx", "networkit/wing.graph"]:
            matrix = largest_component(adjacency(entries_of(DATA / name), False), "strong")[1]
            self.assertGreater(matrix.shape[0], SLOW_NODES)
            told = self.info(DATA / name, False)[0]
            radius = told["largest_component"]["radius"]
            diameter = told["largest_component"]["diameter"]
            self.assertLessEqual(told["bfs"], 2000)
            # A node that is farthest from another has a long eccentricity itself.
            _, far = eccentricity(matrix, 0)
            sweep, _ = eccentricity(matrix, far)
            self.assertLessEqual(sweep, diameter)
            self.assertLessEqual((sweep + 1) // 2, radius)
            for source in random.integers(matrix.shape[0], size=40):
                hops, _ = eccentricity(matrix, source)
                self.assertTrue(radius <= hops <= diameter, (name, source))
                self.assertLessEqual(diameter, 2 * hops)

    def test_nothing_is_lost_without_a_warning(self):
        # KONECT's file and the METIS files with weights of nodes hold more than a graph.
        more = ["networkit/tiny_03.graph", "networkit/tiny_04.graph"]
        for path in graph_files():
            with self.subTest(path=path.relative_to(DATA)):
                warning = self.info(path, False)[1]
                if str(path.relative_to(DATA)) in more:
                    self.assertIn("warning", warning)

    def test_silence_where_nothing_is_lost(self):
        for path in graph_files():
            if path.suffix == ".npz" or path.parent.name in ("planetoid", "seal", "luxembourg"):
                with self.subTest(path=path.relative_to(DATA)):
                    self.assertEqual(self.info(path, True)[1], "")

    def test_files_that_are_no_graphs(self):
        refused = [path for path in files() if is_no_graph(path)]
        self.assertGreater(len(refused), 15)
        for path in refused:
            with self.subTest(path=path.relative_to(DATA)):
                self.assert_one_line(self.ngf("info", str(path)), path)


@needs_data
class Planetoid(ReferenceTest):
    # Nodes, features, classes, radius, diameter: Table 1 of the paper; then the public split.
    TABLE = {
        "cora": ((2708, 1433, 7, 10, 19), (140, 500, 1000)),
        "citeseer": ((3327, 3703, 6, 15, 28), (120, 500, 1000)),
        "pubmed": ((19717, 500, 3, 10, 18), (60, 500, 1000)),
    }

    def test_table(self):
        for name, (row, split) in self.TABLE.items():
            told = self.json("info", "planetoid:" + name)
            largest = told["largest_component"]
            self.assertEqual((told["nodes"], told["features"], told["classes"], largest["radius"],
                              largest["diameter"]), row)
            self.assertEqual(told["splits"], [dict(zip(["train", "validation", "test"], split))])
            self.assertEqual(told["unlabelled"], 15 if name == "citeseer" else 0)

    def test_named_and_opened_by_any_file_it_is_the_same(self):
        for name in self.TABLE:
            told = self.json("info", "planetoid:" + name)
            for path in (DATA / "planetoid").glob(f"ind.{name}.*"):
                self.assertEqual(self.json("info", str(path)), told | {"graph": str(path)})

    def reference(self, name):
        """Features, labels (-1: none) and the nodes of the split, as Python reads them."""
        known, tested = load_pickle(name, "allx"), load_pickle(name, "tx")
        test = np.loadtxt(DATA / "planetoid" / f"ind.{name}.test.index", dtype=int)
        # Row of each node in what both hold, one after the other; at last a row of nothing.
        row = np.full(max(known.shape[0], test.max() + 1), -1)
        row[:known.shape[0]] = np.arange(known.shape[0])
        row[test] = known.shape[0] + np.arange(len(test))
        nothing = scipy.sparse.csr_matrix((1, known.shape[1]), dtype=np.float32)
        features = scipy.sparse.vstack([known, tested, nothing]).tocsr()[row]
        one_hot = np.concatenate([load_pickle(name, "ally"), load_pickle(name, "ty")])
        labels = np.append(one_hot.argmax(axis=1), -1)[row]
        train = len(load_pickle(name, "y"))
        return features, labels, [range(train), range(train, train + 500), sorted(test)]

    def test_node_data(self):
        for name in self.TABLE:
            features, labels, split = self.reference(name)
            self.succeed("convert", "planetoid:" + name, "edges.npz")
            self.succeed("convert", "planetoid:" + name, "csr.npz", "--to", "npz-csr")
            for file, prefix, label in [("edges.npz", "node_features_", "node_labels"),
                                        ("csr.npz", "attr_", "labels")]:
                with np.load(self.folder / file) as content:
                    parts = [content[prefix + part] for part in ("data", "indices", "indptr")]
                    written = scipy.sparse.csr_matrix(tuple(parts), content[prefix + "shape"])
                    self.assertEqual(written.shape, features.shape)
                    self.assertEqual((written != features).nnz, 0)
                    self.assertTrue((content[label] == labels).all())
                    for part, nodes in zip(["train_masks", "val_masks", "test_masks"], split):
                        self.assertEqual(np.flatnonzero(content[part][0]).tolist(), list(nodes))

    def test_citeseer_has_nodes_of_which_nothing_is_known(self):
        features, labels, _ = self.reference("citeseer")
        unknown = np.flatnonzero(labels == -1)
        self.assertEqual(len(unknown), 15)
        self.assertEqual(features[unknown].nnz, 0)

    def test_edges(self):
        for name in self.TABLE:
            self.succeed("convert", "planetoid:" + name, "out.mtx", "--quiet")
            written = scipy.io.mmread(self.folder / "out.mtx").tocsr()
            expected = adjacency(read_planetoid(DATA / "planetoid" / f"ind.{name}.graph"), False)
            self.assertEqual((written != expected).nnz, 0)


@needs_data
class DataSets(ReferenceTest):
    """The node data of the .npz files."""

    def test_heterophilous(self):
        for path in sorted((DATA / "heterophilous").glob("*.npz")):
            told = self.info(path, False)[0]
            with np.load(path) as file, self.subTest(path=path.name):
                self.assertEqual(told["features"], file["node_features"].shape[1])
                self.assertEqual(told["classes"], len(np.unique(file["node_labels"])))
                sizes = [file[f"{part}_masks"].sum(axis=1) for part in ("train", "val", "test")]
                self.assertEqual([list(split.values()) for split in told["splits"]],
                                 np.stack(sizes, axis=1).tolist())

    def test_heterophilous_copies(self):
        for name in ["texas_4_classes", "chameleon_filtered_directed", "minesweeper"]:
            path = DATA / "heterophilous" / f"{name}.npz"
            self.succeed("convert", str(path), "copy.npz")
            with np.load(path) as file, np.load(self.folder / "copy.npz") as copy:
                for part in set(file) - {"edges"}:
                    self.assertTrue((copy[part] == file[part]).all(), (name, part))

    def test_gnn_benchmark(self):
        for path in sorted((DATA / "gnn-benchmark").glob("*.npz")):
            told = self.info(path, True)[0]
            with np.load(path) as file, self.subTest(path=path.name):
                self.assertEqual(told["features"], file["attr_shape"][1])
                self.assertEqual(told["classes"], len(np.unique(file["labels"])))
                self.succeed("convert", str(path), "copy.npz", "--to", "npz-csr", "--directed",
                             "--keep-self-loops")
                with np.load(self.folder / "copy.npz") as copy:
                    self.assertTrue((copy["labels"] == file["labels"]).all())
                    for part in ["adj", "attr"]:
                        ours, theirs = (scipy.sparse.csr_matrix(tuple(
                            content[f"{part}_{array}"] for array in ("data", "indices", "indptr")),
                            content[f"{part}_shape"]) for content in (copy, file))
                        self.assertEqual((ours != theirs).nnz, 0)


@needs_data
class Slow(ReferenceTest):
    def test_radius_and_diameter(self):
        self.assertGreater(self.check_extents(QUICK_NODES + 1, SLOW_NODES), 8)

    @needs_data
    def test_largest_eigenvalues_of_shells(self):
        """Lanczos' method on the shells themselves, against a dense eigensolver."""
        for name in ["cora", "citeseer"]:
            graph = DATA / "planetoid" / f"ind.{name}.graph"
            matrix = self.folder / "graph.npz"
            self.succeed("convert", graph, matrix, "--to", "npz-scipy", "--quiet")
            hops = csgraph.shortest_path(scipy.sparse.load_npz(matrix), unweighted=True)
            count = int(hops[np.isfinite(hops)].max()) + 1
            np.save(self.folder / "x.npy", np.ones((len(hops), 1)))
            found = self.json("filter", graph, "--signal", "x.npy", "--taps", ",".join(["1"] * count),
                              "--normalize", "lmax", "-o", "y.npy")["lmax"]
            self.assertEqual(len(found), count)
            for hop, value in enumerate(found):
                shell = (hops == hop).astype(float)
                last = len(hops) - 1
                expected = scipy.linalg.eigh(shell, eigvals_only=True, subset_by_index=[last, last])[0]
                self.assertAlmostEqual(value / expected, 1, delta=1e-5, msg=f"{name}, hop {hop}")


if __name__ == "__main__":
    unittest.main()
