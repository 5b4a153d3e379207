// The module ngf._engine: what the engine has, as thin as it can be. The package around it, in
// Python, turns what people have into what these functions take.

#include <nanobind/stl/variant.h>

#include "bindings.hpp"
#include "kernels/target.hpp"
#include "ngf/error.hpp"

namespace nb = nanobind;

namespace {

/// As keyword arguments are typed: "memory=4000", "storage='stream'", "resume=True", "lr=...".
std::string spell_argument(const ngf::Setting& setting) {
  if (std::holds_alternative<std::monostate>(setting.value)) return setting.field + "=...";
  return setting.field + "=" + nb::repr(nb::cast(setting.value)).c_str();
}

/// Errors are bad values; those of memory are also what Python raises where there is none.
void bind_errors(nb::module_& m) {
  static nb::handle error;
  static nb::handle exceeded;
  error = PyErr_NewExceptionWithDoc(
      "ngf.Error",
      "Invalid input or a failure of the machine; the message is one line that names the place.",
      PyExc_ValueError, nullptr);
  const nb::tuple bases = nb::make_tuple(error, nb::handle(PyExc_MemoryError));
  exceeded = PyErr_NewExceptionWithDoc(
      "ngf.MemoryExceeded", "Raised before an allocation that would exceed the memory budget.",
      bases.ptr(), nullptr);
  m.attr("Error") = error;
  m.attr("MemoryExceeded") = exceeded;
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const ngf::MemoryExceeded& e) {
      PyErr_SetString(exceeded.ptr(), e.text(spell_argument).c_str());
    } catch (const ngf::Error& e) {
      PyErr_SetString(error.ptr(), e.text(spell_argument).c_str());
    }
  });
}

}  // namespace

NB_MODULE(_engine, m) {
  // What Python still holds when it ends, such as filters that are kept for later, is no leak.
  nb::set_leak_warnings(false);
  m.doc() = "The engine of ngf. Its interface may change; use the package.";
  m.attr("__version__") = NGF_VERSION;
  m.def(
      "target", [] { return std::string(ngf::kernels::current_target()); },
      "Instruction set of the kernels.");

  bind_errors(m);

  ngf::python::bind_graphs(m);
  ngf::python::bind_communicator(m);
  ngf::python::bind_shells(m);
  ngf::python::bind_filters(m);
  ngf::python::bind_features(m);
  ngf::python::bind_data(m);
  ngf::python::bind_classify(m);
  ngf::python::bind_denoise(m);
  ngf::python::bind_reproduce(m);
}
