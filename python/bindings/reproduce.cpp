#include "ngf/reproduce.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bindings.hpp"
#include "work.hpp"

namespace ngf::python {

namespace nb = nanobind;

namespace {

/// What Python is told: a line now and then, through `say`.
experiments::ReproduceWatch watch_of(const std::optional<nb::callable>& say, Progress* signals) {
  experiments::ReproduceWatch watch;
  // It has no end of its own.
  watch.begin = [signals](const std::string&) {
    return std::shared_ptr<Progress>(signals, [](Progress*) {});
  };
  watch.on_done = [say](const experiments::Figure& figure, double seconds, double left) {
    const nb::gil_scoped_acquire gil;
    if (say) (*say)(figure.name, seconds, left);
  };
  return watch;
}

/// Returns the data sets that are missing, and what the journal says about damaged records.
std::pair<std::vector<std::string>, std::string> run_figures(
    const std::vector<std::string>& figures, const std::filesystem::path& folder,
    const std::vector<std::filesystem::path>& data, experiments::Study study, bool resume,
    const std::optional<nb::callable>& say) {
  return without_gil([&](Progress* signals) {
    const experiments::ReproduceWatch watch = watch_of(say, signals);
    std::vector<std::string> missing;
    if (std::any_of(figures.begin(), figures.end(), experiments::needs_datasets)) {
      missing = experiments::add_datasets(study, data, watch);
    }
    experiments::ReproduceJob job(study, figures, folder, resume);
    job.run(watch);
    std::string damage = job.job().damage();
    job.write_report(!missing.empty());
    return std::pair(missing, std::move(damage));
  });
}

}  // namespace

void bind_reproduce(nb::module_& m) {
  using experiments::Study;
  nb::class_<Study> study(m, "Study");
  study.def(nb::init<>())
      .def_prop_rw(
          "full", [](const Study& own) { return own.size == experiments::Size::full; },
          [](Study& own, bool full) {
            own.size = full ? experiments::Size::full : experiments::Size::quick;
          })
      .def_rw("runs", &Study::runs)
      .def_rw("seed", &Study::seed)
      .def_rw("threads", &Study::threads)
      .def_rw("memory", &Study::memory);
  bind_kind(study, "settings", &Study::settings, settings_name, PaperSettings::code);
  m.attr("figure_names") = experiments::figure_names();
  m.def("reproduce", &run_figures, nb::arg("figures"), nb::arg("folder"), nb::arg("data"),
        nb::arg("study"), nb::arg("resume"), nb::arg("say").none());
}

}  // namespace ngf::python
