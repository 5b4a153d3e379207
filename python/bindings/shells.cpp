#include "ngf/shells.hpp"

#include <variant>

#include "arrays.hpp"
#include "bindings.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

/// Hops of all pairs, or of some rows, as the engine holds them: rows may be longer than there are
/// nodes.
nb::object hop_distances(const Graph& graph, ShellOptions options) {
  options.storage = Storage::dense;
  options.must_store = true;
  Shells shells =
      without_gil([&](Progress* progress) { return build_shells(graph, options, progress); });
  const nb::capsule owner = keep(std::move(shells));
  return std::visit(
      [&](const auto& held) -> nb::object {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (requires { Held::farther; }) {
          using Hop = std::decay_t<decltype(Held::farther)>;
          const std::size_t rows = held.rows().count();
          const std::int64_t strides[2]{static_cast<std::int64_t>(held.stride()), 1};
          const std::size_t shape[2]{rows, held.nodes()};
          const Hop* const first = rows == 0 ? nullptr : held.row(held.rows().begin).data();
          return nb::cast(
              nb::ndarray<nb::numpy, Hop>(const_cast<Hop*>(first), 2, shape, owner, strides));
        }
        throw Error("hops of all pairs are not held");
      },
      static_cast<const Shells*>(owner.data())->held());
}

/// A shell as compressed rows: offsets and columns, of the smallest type that SciPy has for them.
template <typename Index>
nb::tuple shell_rows(const Shells& shells, std::uint32_t hop) {
  std::vector<Index> offsets{0};
  std::vector<Index> columns;
  for (NodeId u = 0; u < shells.nodes(); ++u) {
    for (const NodeId v : shells.columns(u, hop)) columns.push_back(static_cast<Index>(v));
    offsets.push_back(static_cast<Index>(columns.size()));
  }
  return nb::make_tuple(array_of(std::move(offsets)), array_of(std::move(columns)));
}

/// The shells first..last.
nb::list shells_as_rows(const Graph& graph, std::uint32_t first, ShellOptions options) {
  const Shells shells = without_gil([&](Progress* progress) {
    options.storage = Storage::sparse;
    options.must_store = true;
    return build_shells(graph, options, progress);
  });
  const std::vector<std::uint64_t> pairs = shells.pairs();
  nb::list result;
  for (std::uint32_t hop = first; hop <= options.hops; ++hop) {
    const bool small = hop >= pairs.size() || pairs[hop] < (std::uint64_t{1} << 31);
    result.append(small ? shell_rows<std::int32_t>(shells, hop)
                        : shell_rows<std::int64_t>(shells, hop));
  }
  return result;
}

}  // namespace

void bind_shells(nb::module_& m) {
  nb::class_<ShellOptions>(m, "ShellOptions")
      .def(nb::init<>())
      .def_rw("hops", &ShellOptions::hops)
      .def_rw("min_paths", &ShellOptions::min_paths)
      .def_rw("threads", &ShellOptions::threads)
      .def_rw("memory", &ShellOptions::memory)
      .def("take_rows",
           [](ShellOptions& own, NodeId begin, NodeId end) {
             own.rows = {begin, end};
           })
      .def_prop_rw(
          "storage", [](const ShellOptions& own) { return std::string(storage_name(own.storage)); },
          [](ShellOptions& own, const std::string& name) {
            own.storage = kind_of("storage", name, storage_name, Storage::stream);
          });
  m.attr("all_hops") = all_hops;
  m.def("hop_distances", &hop_distances);
  m.def("shells", &shells_as_rows);
  m.def("shell_sizes", [](const Graph& graph, const ShellOptions& options) {
    return array_of(
        without_gil([&](Progress* progress) { return shell_sizes(graph, options, progress); }));
  });
}

}  // namespace ngf::python
