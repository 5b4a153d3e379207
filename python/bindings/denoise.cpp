#include "ngf/tasks/denoise.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

/// The columns of `noisy`, denoised.
DenoiseResult run(const Graph& graph, const SignalsArray<double>& noisy,
                  const std::optional<SignalsArray<double>>& clean,
                  const DenoiseSettings& settings) {
  const Matrix of_noisy = view_of<double>(noisy);
  const Matrix of_clean = clean ? Matrix(view_of<double>(*clean)) : Matrix();
  return without_gil([&](Progress* progress) {
    return denoise(graph, of_noisy, clean ? &of_clean : nullptr, settings, progress);
  });
}

}  // namespace

void bind_denoise(nb::module_& m) {
  nb::class_<DenoiseSettings> settings(m, "DenoiseSettings");
  settings.def(nb::init<>());
  bind_kind(settings, "arch", &DenoiseSettings::arch, arch_name, DenoiseArch::median);
  bind_kind(settings, "stop", &DenoiseSettings::stop, stop_name, StopRule::oracle);
  bind_kind(settings, "normalize", &DenoiseSettings::normalization, normalization_name,
            Normalization::row);
  bind_kind(settings, "shift", &DenoiseSettings::shift, shift_name, Shift::gcn);
  settings.def_rw("taps", &DenoiseSettings::taps)
      .def_rw("layers", &DenoiseSettings::layers)
      .def_rw("hidden", &DenoiseSettings::hidden)
      .def_rw("lr", &DenoiseSettings::lr)
      .def_rw("epochs", &DenoiseSettings::epochs)
      .def_rw("folds", &DenoiseSettings::folds)
      .def_rw("noise_level", &DenoiseSettings::noise_level)
      .def_rw("seed", &DenoiseSettings::seed)
      .def_rw("threads", &DenoiseSettings::threads)
      .def_rw("memory", &DenoiseSettings::memory);

  nb::class_<DenoisedSignal>(m, "DenoisedSignal")
      .def_ro("epochs", &DenoisedSignal::epochs)
      .def_ro("left_alone", &DenoisedSignal::left_alone)
      .def_ro("error", &DenoisedSignal::error)
      .def_ro("error_oracle", &DenoisedSignal::error_oracle)
      .def_ro("errors", &DenoisedSignal::errors)
      .def_ro("criterion", &DenoisedSignal::criterion)
      .def_ro("smoothing", &DenoisedSignal::smoothing);

  m.def(
      "denoise",
      [](const Graph& graph, const SignalsArray<double>& noisy,
         const std::optional<SignalsArray<double>>& clean, const DenoiseSettings& how) {
        DenoiseResult result = run(graph, noisy, clean, how);
        return nb::make_tuple(array_of(std::move(result.signals)), std::move(result.each));
      },
      nb::arg("graph"), nb::arg("noisy").noconvert(), nb::arg("clean").none().noconvert(),
      nb::arg("settings"));
}

}  // namespace ngf::python
