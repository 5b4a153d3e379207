#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/memory.hpp"
#include "base/names.hpp"
#include "common.hpp"
#include "data_streams.hpp"
#include "graph/name_index.hpp"
#include "graph_source.hpp"
#include "io/input.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/write.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct Convert {
  Common common;
  GraphSource source;
  std::filesystem::path out;
  std::string to;
  std::uint64_t knn = 0;  ///< 0: the input is a graph
};

/// The names of the points, from their ids. Row numbers say nothing, and ids that repeat name
/// nothing.
NodeNames names_of(const NodeNames& ids, const Convert& convert) {
  detail::NameIndex index;
  bool row_numbers = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (index.add(ids[i]) != i) {
      warn(convert.common, fmt::format("{}: {} is the id of several points, so nodes get no names",
                                       convert.source.name(), io::quoted(ids[i])));
      return {};
    }
    row_numbers = row_numbers && ids[i] == std::to_string(i);
  }
  return row_numbers ? NodeNames() : ids;
}

/// The nearest-neighbour graph of a table of points.
io::ReadResult join_nearest(const Convert& convert) {
  const std::string& name = convert.source.name();
  const io::Table points = io::read_table(
      input_path(name), {.threads = convert.common.threads, .memory = convert.common.memory});
  TerminalProgress progress("joining nearest neighbours", convert.common.quiet);
  io::ReadResult result;
  naming(name, [&] {
    result.dataset.graph = knn_graph(points.numbers, convert.knn,
                                     {.threads = convert.common.threads,
                                      .memory = convert.common.memory,
                                      .progress = &progress});
  });
  result.dataset.names = names_of(points.text.rows, convert);
  return result;
}

void run_convert(const Convert& convert) {
  check_writable(convert.out);
  const io::ReadResult read =
      convert.knn > 0 ? join_nearest(convert) : convert.source.load(convert.common);
  std::optional<io::Format> format;
  if (!convert.to.empty()) {
    format = detail::kind_named(convert.to, io::format_name, io::Format::npz_ppnp);
  }
  TerminalProgress progress("writing " + convert.out.string(), convert.common.quiet);
  // An npz file is assembled in memory: two ids, or a value and its copy, per arc.
  constexpr std::uint64_t bytes_of_arc = 16;
  if (convert.out.extension() == ".npz") {
    detail::check_budget(bytes_of_arc * read.dataset.graph.arcs(), convert.common.memory,
                         "writing " + convert.out.string());
  }
  const io::WriteResult written = io::write_graph(convert.out, read.dataset, format, &progress);
  for (const std::string& text : written.warnings) warn(convert.common, text);
  const Graph& graph = read.dataset.graph;
  if (convert.common.json) {
    print_json({{"written", convert.out.string()},
                {"format", io::format_name(written.format)},
                {"nodes", graph.nodes()},
                {"edges", graph.edges()}});
  } else {
    fmt::print("{}: {}, {} nodes, {} edges\n", convert.out.string(),
               io::format_name(written.format), graph.nodes(), graph.edges());
  }
}

}  // namespace

void add_convert(CLI::App& program) {
  auto convert = std::make_shared<Convert>();
  CLI::App* const verb = program.add_subcommand("convert", "Convert a graph between file formats");
  convert->source.add_to(*verb);
  verb->add_option("OUT", convert->out, "File to write; its extension chooses the format")
      ->required();
  verb->add_option("--to", convert->to, "Format to write [from the file extension]")
      ->check(CLI::IsMember(detail::names_of(io::format_name, io::Format::npz_ppnp)));
  CLI::Option* const knn =
      verb->add_option("--knn", convert->knn,
                       "GRAPH is a table of points (.csv or .npy), one row per node: join each to "
                       "its K nearest")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{4'000'000'000}))
          ->type_name("K");
  for (const char* const flag : {"--directed", "--largest-component", "--keep-self-loops",
                                 "--format", "--ids", "--base", "--lenient", "--id-map"}) {
    knn->excludes(verb->get_option(flag));
  }
  convert->common.add_to(*verb);
  verb->callback([convert] { run_convert(*convert); });
}

}  // namespace ngf::cli
