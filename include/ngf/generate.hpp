#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ngf/dataset.hpp"
#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"
#include "ngf/progress.hpp"

/// Synthetic graphs. Each is a function of its parameters and the seed alone: bit-identical on
/// every machine and for every number of threads. All throw Error for parameters out of range, and
/// before they allocate more memory than is free.

namespace ngf {

struct GenerateOptions {
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes; 0: what the machine has free
  Progress* progress = nullptr;
};

/// Each pair of nodes is an edge with probability p, independently (Gilbert's G(N, p)).
Graph erdos_renyi(std::uint64_t nodes, double p, std::uint64_t seed,
                  const GenerateOptions& options = {});

/// A small world: a ring where each node is joined to its k nearest, k even and below N; then the
/// far end of each edge moves, with probability beta, to a node drawn from all that are not yet
/// neighbours of its near end. Edges u - u+j are visited by j, then by u.
Graph watts_strogatz(std::uint64_t nodes, std::uint64_t k, double beta, std::uint64_t seed,
                     const GenerateOptions& options = {});

/// Communities: a pair inside one block is an edge with probability p, any other pair with
/// probability q. Node u is in block floor(u * blocks / N): contiguous, of equal size up to one.
Graph stochastic_block_model(std::uint64_t nodes, std::uint64_t blocks, double p, double q,
                             std::uint64_t seed, const GenerateOptions& options = {});

/// Preferential attachment: a star of m + 1 nodes grows by nodes that each join m distinct earlier
/// ones, drawn in proportion to their degrees. 1 <= m < N.
Graph barabasi_albert(std::uint64_t nodes, std::uint64_t m, std::uint64_t seed,
                      const GenerateOptions& options = {});

/// The rectangular lattice; node r * cols + c is at row r and column c.
Graph grid(std::uint64_t rows, std::uint64_t cols, const GenerateOptions& options = {});

/// Graph500's Kronecker graph on 2^scale nodes: edge_factor * 2^scale draws, each of which halves
/// the adjacency matrix `scale` times and keeps a quadrant with probabilities 0.57, 0.19, 0.19,
/// 0.05. Repeated draws and self-loops are dropped; nodes are renumbered at random, so that a
/// number tells nothing about the degree.
Graph rmat(std::uint64_t scale, std::uint64_t edge_factor, std::uint64_t seed,
           const GenerateOptions& options = {});

/// The k-nearest-neighbour graph of points, one per row: u-v is an edge if v is one of the k points
/// nearest to u, or u one of those nearest to v (the symmetric union). Distances are Euclidean; of
/// points at equal distance, the smaller numbers are nearer. Exact, by a k-d tree: about N log N
/// distances for a few coordinates, and up to N^2 for dozens. Throws Error for coordinates that are
/// not finite, and unless 1 <= k < N.
Graph knn_graph(const Matrix& points, std::uint64_t k, const GenerateOptions& options = {});

/// Zachary's karate club (1977): 34 members, 78 friendships; label 0 for those who stayed with the
/// instructor when the club split, 1 for those who followed the officer.
Dataset karate_club();

/// A synthetic citation data set that behaves like Cora: 7 classes, homophily near 0.8, mean degree
/// about 4 with hubs, one component whose diameter is about 20 and grows as log N, sparse binary
/// bag-of-words features, and a split like the public one.
///
/// Papers appear one after another. A paper draws its field (fields differ in size, 30 % to 7 %)
/// and cites an earlier paper, drawn evenly: from its own field in 9 cases of 10, else from all.
/// Like many authors it then copies some of that paper's own citations, mostly those of its own
/// field, which makes hubs and triangles while the graph stays as deep as a random tree. About 18
/// words a paper come from three sources: words that all fields use, the words of its field, and
/// those of a field drawn at random; in each source the first words are the most frequent, and the
/// columns are shuffled. A paper's label is that of the paper it cites when both are of one field,
/// in 7 cases of 10; otherwise it is its field, except that one in six is filed at random. So whole
/// branches are filed otherwise than their words say, and no model can be right about all. At the
/// default size a linear model reaches 0.53 to 0.60 accuracy on the words alone and 0.79 to 0.87 on
/// words averaged over two hops, by seed; it is lower at 500 nodes, with fewer labels, and at
/// 20,000, with more words.
///
/// The split has 20 nodes of each class for training, 500 for validation and 1000 for the test;
/// in proportion fewer below 2708 nodes.
Dataset citation_network(std::uint64_t nodes = 2708, std::uint64_t seed = 1,
                         const GenerateOptions& options = {});

/// What a text on a command line stands for:
///
///     builtin:karate
///     builtin:citation[,nodes=2708,seed=S]
///     sbm:nodes=256,blocks=8,p=0.3,q=0.0075,seed=S
///     er:nodes=N,p=P,seed=S
///     ws:nodes=N,k=4,beta=0.1,seed=S
///     ba:nodes=N,m=3,seed=S
///     grid:rows=140,cols=140
///     rmat:scale=16,edge_factor=16,seed=S
///
/// The values shown are the defaults, N and P must be given, and S defaults to `default_seed`.
/// Nothing when the text before the first colon is none of these; Error for anything wrong after
/// it.
std::optional<Dataset> generate_from_spec(std::string_view spec, std::uint64_t default_seed,
                                          const GenerateOptions& options = {});

}  // namespace ngf
