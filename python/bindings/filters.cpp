#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "ngf/pair_weights.hpp"
#include "ngf/sharded_filter.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

using TapsArray = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A row of taps for each group; without groups there is one.
Taps taps_of(const TapsArray& values, const std::optional<List<std::uint32_t>>& groups) {
  std::vector<double> all(values.data(), values.data() + values.size());
  if (!groups) return {std::move(all)};
  return {values.shape(1), std::move(all), vector_of(*groups)};
}

nb::ndarray<nb::numpy, double> taps_array(const std::vector<double>& values, std::size_t count) {
  const std::size_t groups = count == 0 ? 0 : values.size() / count;
  return nb::ndarray<nb::numpy, double>(const_cast<double*>(values.data()), {groups, count});
}

/// Writes H X, or H' X, to the caller's array.
template <typename Filter, typename Real>
void apply(const Filter& filter, const SignalsArray<Real>& x, const OutputArray<Real>& y,
           bool transposed) {
  const SignalsView<Real> from = view_of<Real>(x);
  SignalsSlice<Real> to = slice_of<Real>(y);
  without_gil([&](Progress* progress) {
    if (transposed) {
      filter.template apply_transpose_to<Real>(from, to, progress);
    } else {
      filter.template apply_to<Real>(from, to, progress);
    }
    return 0;
  });
}

template <typename Filter, typename Real>
nb::tuple gradients(const Filter& filter, const SignalsArray<Real>& x,
                    const SignalsArray<Real>& by_output) {
  const SignalsView<Real> from = view_of<Real>(x);
  const SignalsView<Real> gradient = view_of<Real>(by_output);
  FilterGradients<Real> result = without_gil([&](Progress* progress) {
    FilterGradients<Real> found;
    found.input.resize(filter.rows().count(), from.cols());
    found.taps = filter.template gradients_to<Real>(from, gradient, found.input, progress);
    return found;
  });
  return nb::make_tuple(
      array_of(std::move(result.input)),
      nb::cast(taps_array(result.taps, filter.taps().count()), nb::rv_policy::copy));
}

template <typename Filter>
nb::tuple fit(const Filter& filter, const SignalsArray<double>& x, const SignalsArray<double>& y) {
  FittedTaps fitted = without_gil([&](Progress*) {
    return fit_taps(filter, Matrix(view_of<double>(x)), Matrix(view_of<double>(y)));
  });
  return nb::make_tuple(array_of(std::move(fitted.taps)),
                        array_of(std::move(fitted.standard_errors)), fitted.residual);
}

/// What both filters have.
template <typename Filter>
void bind_common(nb::class_<Filter>& type) {
  type.def_prop_ro("nodes", &Filter::nodes)
      .def_prop_ro("rows", [](const Filter& own) { return own.rows().count(); })
      .def_prop_ro("taps",
                   [](const Filter& own) {
                     return nb::cast(taps_array(own.taps().values(), own.taps().count()),
                                     nb::rv_policy::copy);
                   })
      .def(
          "with_taps",
          [](const Filter& own, const TapsArray& values,
             const std::optional<List<std::uint32_t>>& groups) {
            Filter other = own;
            other.set_taps(taps_of(values, groups));
            return other;
          },
          nb::arg("taps"), nb::arg("groups").none(),
          "The same filter with other taps; shells are shared.")
      .def("flops", &Filter::flops)
      .def("fit", &fit<Filter>, nb::arg("x").noconvert(), nb::arg("y").noconvert());
  const auto bind_real = [&]<typename Real>(Real) {
    type.def("apply", &apply<Filter, Real>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
             nb::arg("transposed"))
        .def("gradients", &gradients<Filter, Real>, nb::arg("x").noconvert(),
             nb::arg("by_output").noconvert());
  };
  bind_real(float{});
  bind_real(double{});
}

/// The filter on the rows that are here.
const NeighborhoodFilter& local(const NeighborhoodFilter& filter) { return filter; }
const NeighborhoodFilter& local(const ShardedNeighborhoodFilter& filter) { return filter.local(); }

FilterOptions options_of(const std::string& normalize, const ShellOptions& shells,
                         const std::string& form, bool in_double) {
  FilterOptions options;
  options.normalization = kind_of("normalize", normalize, normalization_name, Normalization::row);
  options.shells = shells;
  options.form = kind_of("form", form, form_name, ProductForm::hop_tiles);
  options.in_double = in_double;
  return options;
}

/// Filters on shells, whether all rows are here or those of one rank, which then has a partition.
template <typename Filter, typename... OwnPartition, typename... Arg>
void bind_neighborhood(nb::module_& m, const char* name, const Arg&... partition) {
  nb::class_<Filter> type(m, name);
  type.def(
      "__init__",
      [](Filter* self, const Graph& graph, const TapsArray& taps,
         const std::optional<List<std::uint32_t>>& groups, const std::string& normalize,
         const ShellOptions& shells, bool in_double, const std::string& form,
         OwnPartition... own_partition) {
        const FilterOptions options = options_of(normalize, shells, form, in_double);
        Taps own = taps_of(taps, groups);
        without_gil([&](Progress* progress) {
          new (self) Filter(graph, std::move(own), options, std::move(own_partition)..., progress);
          return 0;
        });
      },
      nb::arg("graph"), nb::arg("taps"), nb::arg("groups").none(), nb::arg("normalize"),
      nb::arg("shells"), nb::arg("in_double"), nb::arg("form"), partition...);
  type.def_prop_ro("storage",
                   [](const Filter& own) {
                     return std::string(storage_name(local(own).shells().storage()));
                   })
      .def_prop_ro("bytes", [](const Filter& own) { return local(own).shells().bytes(); })
      .def("form",
           [](const Filter& own, std::int64_t width, bool in_double) {
             const NeighborhoodFilter& filter = local(own);
             return std::string(form_name(in_double ? filter.template form<double>(width)
                                                    : filter.template form<float>(width)));
           })
      .def("largest_value", [](const Filter& own, std::size_t k) {
        return without_gil(
            [&](Progress* progress) { return own.largest_value(k, progress).value; });
      });
  bind_common(type);
}

/// Embeddings of nodes: rows as they are, or features after TF-IDF.
Embeddings dense_embeddings(const SignalsArray<double>& rows, bool tf_idf) {
  const SignalsView<double> all = view_of<double>(rows);
  return without_gil([&](Progress*) {
    if (!tf_idf) return Embeddings(Matrix(all));
    Dataset dataset;
    dataset.features = MatrixF(all.cast<float>());
    return feature_embeddings(dataset);
  });
}

Embeddings sparse_embeddings(const List<std::int32_t>& offsets, const List<std::int32_t>& columns,
                             const List<float>& values, std::int64_t width, bool tf_idf) {
  const SparseMatrixF rows = Eigen::Map<const SparseMatrixF>(
      static_cast<Eigen::Index>(offsets.size()) - 1, width,
      static_cast<Eigen::Index>(values.size()), offsets.data(), columns.data(), values.data());
  return without_gil([&](Progress*) {
    if (!tf_idf) return Embeddings(rows);
    Dataset dataset;
    dataset.features = rows;
    return feature_embeddings(dataset);
  });
}

/// Filters with a weight for each pair, and the embeddings that weight them.
void bind_pairs(nb::module_& m) {
  nb::class_<Embeddings>(m, "Embeddings")
      .def_static("dense", &dense_embeddings, nb::arg("rows").noconvert(), nb::arg("tf_idf"))
      .def_static("sparse", &sparse_embeddings, nb::arg("offsets").noconvert(),
                  nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("width"),
                  nb::arg("tf_idf"))
      .def_prop_ro("nodes", &Embeddings::nodes)
      .def_prop_ro("zero_rows", &Embeddings::zero_rows);
  nb::class_<PairFilter> type(m, "PairFilter");
  type.def(
      "__init__",
      [](PairFilter* self, const Graph& graph, const TapsArray& taps,
         const std::optional<List<std::uint32_t>>& groups, const std::string& normalize,
         const ShellOptions& shells, bool in_double, const std::string& form,
         const Embeddings& embeddings, double power) {
        const FilterOptions options = options_of(normalize, shells, form, in_double);
        Taps own = taps_of(taps, groups);
        without_gil([&](Progress* progress) {
          new (self) PairFilter(graph, std::move(own), embeddings, power, options, progress);
          return 0;
        });
      },
      nb::arg("graph"), nb::arg("taps"), nb::arg("groups").none(), nb::arg("normalize"),
      nb::arg("shells"), nb::arg("in_double"), nb::arg("form"), nb::arg("embeddings"),
      nb::arg("power"));
  type.def_prop_ro(
          "storage",
          [](const PairFilter& own) { return std::string(storage_name(own.shells().storage())); })
      .def_prop_ro("bytes",
                   [](const PairFilter& own) { return own.shells().bytes() + own.weight_bytes(); })
      .def("form", [](const PairFilter& own, std::int64_t width, bool in_double) {
        return std::string(form_name(in_double ? own.form<double>(width) : own.form<float>(width)));
      });
  bind_common(type);
}

/// Filters on powers of a shift, likewise.
template <typename Filter, typename... OwnPartition, typename... Arg>
void bind_polynomial(nb::module_& m, const char* name, const Arg&... partition) {
  nb::class_<Filter> type(m, name);
  type.def(
      "__init__",
      [](Filter* self, const Graph& graph, const TapsArray& taps,
         const std::optional<List<std::uint32_t>>& groups, const std::string& shift, int threads,
         OwnPartition... own_partition) {
        const Shift kind = kind_of("shift", shift, shift_name, Shift::gcn);
        Taps own = taps_of(taps, groups);
        without_gil([&](Progress* progress) {
          new (self)
              Filter(graph, std::move(own), kind, threads, std::move(own_partition)..., progress);
          return 0;
        });
      },
      nb::arg("graph"), nb::arg("taps"), nb::arg("groups").none(), nb::arg("shift"),
      nb::arg("threads"), partition...);
  bind_common(type);
}

}  // namespace

void bind_filters(nb::module_& m) {
  using OwnPartition = std::shared_ptr<Partition>;
  const nb::arg partition("partition");
  bind_neighborhood<NeighborhoodFilter>(m, "NeighborhoodFilter");
  bind_neighborhood<ShardedNeighborhoodFilter, OwnPartition>(m, "ShardedNeighborhoodFilter",
                                                             partition);
  bind_pairs(m);
  bind_polynomial<PolynomialFilter>(m, "PolynomialFilter");
  bind_polynomial<ShardedPolynomialFilter, OwnPartition>(m, "ShardedPolynomialFilter", partition);
}

}  // namespace ngf::python
