#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ngf/dataset.hpp"
#include "ngf/io/format.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

struct WriteResult {
  Format format = Format::edge_list;
  std::vector<std::string> warnings;  ///< what the format could not hold, such as features
};

/// The format of a file extension: .mtx, .graph and .metis, .npy, .npz (SciPy's layout
/// for a bare graph, else a data set), and edge lists for all others.
Format format_for_name(const std::filesystem::path& path, const Dataset& dataset);

/// Writes the graph, and its node data where the format has room for them. The file appears whole
/// or not at all. Throws Error when the format cannot hold the graph.
WriteResult write_graph(const std::filesystem::path& path, const Dataset& dataset,
                        std::optional<Format> format = {}, Progress* progress = nullptr);

/// Writes numbers as .npy or .csv, by the name's ending; a .csv has the text around them, too.
void write_matrix(const std::filesystem::path& path, const Matrix& matrix,
                  const TableText& text = {});
/// Throws Error for a name that `write_matrix` refuses.
void check_matrix_name(const std::filesystem::path& path);

}  // namespace ngf::io
