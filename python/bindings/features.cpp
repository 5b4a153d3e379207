#include "ngf/features.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

nb::ndarray<nb::numpy, float> compute_features(const Graph& graph, const SignalsArray<float>& x,
                                               const std::string& aggregate,
                                               const ShellOptions& shells) {
  FeatureOptions options;
  options.aggregate = kind_of("aggregate", aggregate, aggregate_name, Aggregate::max);
  options.shells = shells;
  const SignalsView<float> signals = view_of<float>(x);
  return array_of(without_gil(
      [&](Progress* progress) { return shell_features(graph, signals, options, progress); }));
}

}  // namespace

void bind_features(nb::module_& m) {
  m.def("shell_features", &compute_features, nb::arg("graph"), nb::arg("x").noconvert(),
        nb::arg("aggregate"), nb::arg("options"),
        "Signals aggregated over each shell, columns grouped by hop.");
}

}  // namespace ngf::python
