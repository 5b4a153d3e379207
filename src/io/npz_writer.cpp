#include <cstddef>

#include "base/fail.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/npz_layout.hpp"
#include "io/zip.hpp"

namespace ngf::io {

namespace {

class Writer {
 public:
  explicit Writer(const Dataset& dataset) : dataset_(dataset), graph_(dataset.graph) {}

  void write(const std::filesystem::path& path, const Layout& layout) {
    const bool edges = layout.format == Format::npz_edges;
    if (layout.format == Format::npz_scipy) {
      own("format", "|S3", {}, std::string_view("csr"));
      add_adjacency(layout.adjacency);
    } else {
      if (!edges) add_adjacency(layout.adjacency);
      if (edges) add_edges();
      add_features(layout);
      if (!dataset_.labels.empty()) {
        borrow(layout.labels, "<i4", {graph_.nodes()}, std::span(dataset_.labels));
      }
      add_masks();
      const bool nodes_are_known =
          !dataset_.labels.empty() || !dataset_.splits.empty() || dataset_.features.index() != 0;
      if (edges && !nodes_are_known)
        own("num_nodes", "<i8", {}, std::array<std::int64_t, 1>{graph_.nodes()});
    }
    AtomicFile file(path);
    write_zip(file, members_);
    file.commit();
  }

 private:
  using Shape = std::vector<std::uint64_t>;

  // The values stay where they are until the file is written.
  template <typename T>
  void borrow(std::string_view name, std::string_view dtype, const Shape& shape,
              std::span<const T> values) {
    members_.push_back({joined(name, ".npy"),
                        npy_header(dtype, shape),
                        {reinterpret_cast<const char*>(values.data()), values.size_bytes()}});
  }

  template <typename T>
  void own(std::string_view name, std::string_view dtype, const Shape& shape, const T& values) {
    const auto bytes = std::as_bytes(std::span(values));
    std::string head = npy_header(dtype, shape);
    head.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    members_.push_back({joined(name, ".npy"), std::move(head), {}});
  }

  void add_shape(std::string_view prefix, std::int64_t rows, std::int64_t cols) {
    own(joined(prefix, "shape"), "<i8", {2}, std::array{rows, cols});
  }

  // Readers expect signed numbers; for these values they have the bytes of unsigned ones.
  void add_adjacency(std::string_view prefix) {
    const std::uint64_t arcs = graph_.arcs();
    const bool small = graph_.nodes() <= std::uint32_t{1} << 31U;
    add_shape(prefix, graph_.nodes(), graph_.nodes());
    borrow(joined(prefix, "indptr"), "<i8", {graph_.offsets().size()}, graph_.offsets());
    borrow(joined(prefix, "indices"), small ? "<i4" : "<u4", {arcs}, graph_.targets());
    if (graph_.weighted()) {
      borrow(joined(prefix, "data"), "<f8", {arcs}, graph_.weights());
    } else {
      own(joined(prefix, "data"), "<f4", {arcs}, std::vector<float>(arcs, 1));
    }
  }

  // An undirected edge is listed once, from its smaller end.
  void add_edges() {
    std::vector<std::int64_t> ends;
    std::vector<double> weights;
    for (NodeId u = 0; u < graph_.nodes(); ++u) {
      const auto neighbors = graph_.neighbors(u);
      for (std::size_t k = 0; k < neighbors.size(); ++k) {
        if (!graph_.directed() && neighbors[k] < u) continue;
        ends.insert(ends.end(), {u, neighbors[k]});
        if (graph_.weighted()) weights.push_back(graph_.weights_of(u)[k]);
      }
    }
    own("edges", "<i8", {ends.size() / 2, 2}, ends);
    if (graph_.weighted()) own("edge_weights", "<f8", {weights.size()}, weights);
  }

  void add_features(const Layout& layout) {
    if (const auto* dense = std::get_if<MatrixF>(&dataset_.features)) {
      const Shape shape{static_cast<std::uint64_t>(dense->rows()),
                        static_cast<std::uint64_t>(dense->cols())};
      borrow(layout.dense_features, "<f4", shape,
             std::span(dense->data(), static_cast<std::size_t>(dense->size())));
    }
    if (const auto* sparse = std::get_if<SparseMatrixF>(&dataset_.features)) {
      add_sparse(layout.sparse_features, *sparse);
    }
  }

  void add_sparse(std::string_view prefix, const SparseMatrixF& matrix) {
    const auto count = static_cast<std::size_t>(matrix.nonZeros());
    const auto rows = static_cast<std::size_t>(matrix.rows());
    if (!matrix.isCompressed()) fail("features: a sparse matrix is written when compressed");
    add_shape(prefix, matrix.rows(), matrix.cols());
    borrow(joined(prefix, "indptr"), "<i4", {rows + 1},
           std::span(matrix.outerIndexPtr(), rows + 1));
    borrow(joined(prefix, "indices"), "<i4", {count}, std::span(matrix.innerIndexPtr(), count));
    borrow(joined(prefix, "data"), "<f4", {count}, std::span(matrix.valuePtr(), count));
  }

  void add_masks() {
    if (dataset_.splits.empty()) return;
    for (const auto& [kind, nodes] : mask_kinds) {
      std::string bits(dataset_.splits.size() * graph_.nodes(), '\0');
      for (std::size_t s = 0; s < dataset_.splits.size(); ++s) {
        for (const NodeId u : dataset_.splits[s].*nodes) bits[s * graph_.nodes() + u] = '\1';
      }
      own(joined(kind, "s"), "|b1", {dataset_.splits.size(), graph_.nodes()}, bits);
    }
  }

  const Dataset& dataset_;
  const Graph& graph_;
  std::vector<ZipMember> members_;
};

}  // namespace

void write_npz(const std::filesystem::path& path, const Dataset& dataset, Format format) {
  for (const Layout& layout : layouts) {
    if (layout.format == format) return Writer(dataset).write(path, layout);
  }
  fail("{}: {} is no layout of an .npz file", path.string(), format_name(format));
}

}  // namespace ngf::io
