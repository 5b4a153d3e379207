#pragma once

#include <string_view>

namespace ngf::io {

/// File formats of graphs.
enum class Format {
  edge_list,      ///< lines "u v [weight]": spaces, tabs or commas
  matrix_market,  ///< coordinate .mtx, with or without its banner
  metis,          ///< line i lists the neighbours of node i
  adjacency_csv,  ///< a square table of weights, 0 = no edge
  adjacency_npy,  ///< the same as a NumPy array
  npz_scipy,      ///< scipy.sparse.save_npz
  npz_edges,      ///< the heterophilous data sets: edges, node_features, node_labels, *_masks
  npz_csr,        ///< gnn-benchmark: adj_data, adj_indices, ..., attr_data, ..., labels
  npz_ppnp,       ///< the same with the names adj_matrix.data, attr_matrix.data, ...
  planetoid,      ///< eight files ind.NAME.*, Python pickles; read only
};

/// The name that the command line and messages use: "edge-list", "matrix-market", ...
std::string_view format_name(Format format);

}  // namespace ngf::io
