#include <nanobind/stl/filesystem.h>

#include <array>

#include "arrays.hpp"
#include "bindings.hpp"
#include "ngf/dataset.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/catalog.hpp"
#include "ngf/io/load.hpp"
#include "ngf/io/write.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

using Path = std::filesystem::path;
using DenseFeatures = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// None, an array, or (offsets, columns, values, number of columns): views, not copies.
nb::object features_of(nb::handle self) {
  const auto& dataset = nb::cast<const Dataset&>(self);
  if (const auto* const dense = std::get_if<MatrixF>(&dataset.features)) {
    const std::array shape{static_cast<std::size_t>(dense->rows()),
                           static_cast<std::size_t>(dense->cols())};
    return nb::cast(nb::ndarray<nb::numpy, const float>(dense->data(), 2, shape.data(), self));
  }
  if (const auto* const sparse = std::get_if<SparseMatrixF>(&dataset.features)) {
    const auto rows = static_cast<std::size_t>(sparse->outerSize()) + 1;
    const auto entries = static_cast<std::size_t>(sparse->nonZeros());
    return nb::make_tuple(view_into(std::span<const int>(sparse->outerIndexPtr(), rows), self),
                          view_into(std::span<const int>(sparse->innerIndexPtr(), entries), self),
                          view_into(std::span<const float>(sparse->valuePtr(), entries), self),
                          sparse->cols());
  }
  return nb::none();
}

nb::list splits_of(nb::handle self) {
  nb::list result;
  for (const Split& split : nb::cast<const Dataset&>(self).splits) {
    result.append(nb::make_tuple(view_into(std::span(split.train), self),
                                 view_into(std::span(split.validation), self),
                                 view_into(std::span(split.test), self)));
  }
  return result;
}

/// The names of the nodes as bytes, which need not be UTF-8; none where nodes have no names.
nb::object names_of(const Dataset& dataset) {
  if (dataset.names.empty()) return nb::none();
  nb::list names;
  for (std::size_t u = 0; u < dataset.names.size(); ++u) {
    names.append(nb::bytes(dataset.names[u].data(), dataset.names[u].size()));
  }
  return names;
}

/// The graph shares the data set's life.
nb::object graph_of(nb::handle self) {
  return nb::cast(&nb::cast<const Dataset&>(self).graph, nb::rv_policy::reference_internal, self);
}

void set_dense(Dataset& dataset, const DenseFeatures& features) {
  dataset.features = MatrixF(
      Eigen::Map<const MatrixF>(features.data(), static_cast<Eigen::Index>(features.shape(0)),
                                static_cast<Eigen::Index>(features.shape(1))));
}

void set_sparse(Dataset& dataset, const List<std::int32_t>& offsets,
                const List<std::int32_t>& columns, const List<float>& values, std::int64_t width) {
  dataset.features = SparseMatrixF(Eigen::Map<const SparseMatrixF>(
      static_cast<Eigen::Index>(offsets.size()) - 1, width,
      static_cast<Eigen::Index>(values.size()), offsets.data(), columns.data(), values.data()));
}

Dataset make_dataset(const Graph& graph, const List<std::int32_t>& labels) {
  Dataset dataset;
  dataset.graph = graph;
  dataset.labels = vector_of(labels);
  return dataset;
}

nb::tuple load(const std::string& name, bool directed, const std::string& ids, bool lenient,
               const std::vector<Path>& folders, std::uint64_t seed, std::uint64_t memory) {
  const io::Ids meaning = kind_of("ids", ids, io::ids_name, io::Ids::names);
  io::ReadResult read = without_gil([&](Progress* progress) {
    io::ReadOptions options;
    options.ids = meaning;
    options.directed = directed;
    options.lenient = lenient;
    options.memory = memory;
    options.progress = progress;
    return io::load(name, options, folders, seed);
  });
  return nb::make_tuple(std::move(read.dataset), read.warnings);
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<Dataset>(m, "Dataset")
      .def_static("make", &make_dataset, nb::arg("graph"), nb::arg("labels").noconvert())
      .def("set_dense", &set_dense, nb::arg("features").noconvert())
      .def("set_sparse", &set_sparse, nb::arg("offsets").noconvert(),
           nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("width"))
      .def_prop_ro("graph", &graph_of)
      .def_prop_ro("names", &names_of)
      .def_prop_ro("features", &features_of)
      .def_prop_ro("labels",
                   [](nb::handle self) {
                     return view_into(std::span(nb::cast<const Dataset&>(self).labels), self);
                   })
      .def_prop_ro("splits", &splits_of);
  m.def("load", &load);
  m.def("knn_graph", [](const SignalsArray<double>& points, std::uint64_t k) {
    const Matrix copy = view_of(points);
    return without_gil(
        [&](Progress* progress) { return knn_graph(copy, k, {.progress = progress}); });
  });
  m.def("write_graph", [](const Path& path, const Graph& graph, const nb::list& names) {
    Dataset dataset;
    dataset.graph = graph;
    for (const nb::handle name : names) {
      const auto bytes = nb::cast<nb::bytes>(name);
      dataset.names.push_back({bytes.c_str(), bytes.size()});
    }
    return without_gil([&](Progress*) { return io::write_graph(path, dataset).warnings; });
  });
  m.def("fetch", [](const std::string& name, const Path& folder) {
    return without_gil(
        [&](Progress* progress) { return io::fetch_dataset(name, folder, {}, progress); });
  });
  m.def("cache_folder", [](std::optional<std::string> xdg, std::optional<std::string> home) {
    return io::cache_folder(xdg ? xdg->c_str() : nullptr, home ? home->c_str() : nullptr);
  });
}

}  // namespace ngf::python
