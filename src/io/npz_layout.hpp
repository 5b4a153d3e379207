#pragma once

// An NPZ file is a ZIP archive of NPY members. Four layouts hold graphs; N nodes, F features, M
// edges, S splits, each of which is a row of the three masks:
//
//   SciPy's sparse  format ("csr", "csc", "coo"), shape, data, indices, indptr; coo: row, col
//   heterophilous   edges (M, 2), node_features (N, F), node_labels (N), train_masks (S, N), ...
//   gnn-benchmark   adj_data, adj_indices, adj_indptr, adj_shape, attr_data, ..., labels
//   ppnp            the same as adj_matrix.data, ..., attr_matrix.data, ..., labels
//
// Ours to write beside these, and to read: masks in every layout of a data set; attr_matrix, dense;
// and with `edges`: edge_weights (M), num_nodes where nothing else tells N, node_features_data, ...
// for sparse features.

#include <array>

#include "ngf/dataset.hpp"
#include "ngf/io/format.hpp"

namespace ngf::io {

/// What the members of a layout are called, without ".npy". Of a sparse matrix, it is what comes
/// before "data", "indices", "indptr" and "shape".
struct Layout {
  Format format;
  std::string_view told_by;  ///< only this layout has it
  std::string_view adjacency;
  std::string_view dense_features;
  std::string_view sparse_features;
  std::string_view labels;
};

inline constexpr std::array<Layout, 4> layouts{{
    {Format::npz_scipy, "format", "", "", "", ""},
    {Format::npz_edges, "edges", "", "node_features", "node_features_", "node_labels"},
    {Format::npz_csr, "adj_indptr", "adj_", "attr_matrix", "attr_", "labels"},
    {Format::npz_ppnp, "adj_matrix.indptr", "adj_matrix.", "attr_matrix", "attr_matrix.", "labels"},
}};

/// One of the three parts of a split. Several splits are NAMEs, a row each; a single one may be
/// NAME.
struct MaskKind {
  std::string_view name;
  std::vector<NodeId> Split::*nodes;
};

inline constexpr std::array<MaskKind, 3> mask_kinds{
    {{"train_mask", &Split::train}, {"val_mask", &Split::validation}, {"test_mask", &Split::test}}};

inline std::string joined(std::string_view prefix, std::string_view name) {
  return std::string(prefix) += name;
}

}  // namespace ngf::io
