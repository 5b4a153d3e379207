#include "ngf/shells.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common.hpp"
#include "graph_source.hpp"
#include "io/atomic_file.hpp"
#include "io/npy.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "shell_flags.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct ShellsVerb {
  Common common;
  GraphSource source;
  ShellFlags flags;
  std::optional<std::uint32_t> hop;
  bool distances = false;
  std::filesystem::path out;
};

/// What the verb prints.
struct Answer {
  std::vector<std::uint64_t> pairs;
  Storage storage = Storage::stream;
  std::uint64_t bytes = 0;
};

template <typename Hop>
void write_matrix(const HopMatrix<Hop>& matrix, const std::filesystem::path& path,
                  Progress& progress) {
  io::AtomicFile file(path);
  const std::array<std::uint64_t, 2> shape{matrix.nodes(), matrix.nodes()};
  file.write(io::npy_header(sizeof(Hop) == 1 ? "|u1" : "<u2", shape));
  for (NodeId u = 0; u < matrix.nodes(); ++u) {
    throw_if_stopped(&progress);
    const auto row = matrix.row(u);
    file.write({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
    progress.report(u, matrix.nodes());
  }
  file.commit();
}

Answer write_distances(const Graph& graph, ShellOptions options, const ShellsVerb& verb) {
  options.storage = Storage::dense;
  const Shells shells = build_shells(graph, options);
  TerminalProgress progress("writing " + verb.out.string(), verb.common.quiet);
  if (const auto* bytes = std::get_if<HopMatrix<std::uint8_t>>(&shells.held())) {
    write_matrix(*bytes, verb.out, progress);
  } else if (const auto* words = std::get_if<HopMatrix<std::uint16_t>>(&shells.held())) {
    write_matrix(*words, verb.out, progress);
  } else {
    write_matrix(HopMatrix<std::uint8_t>(0), verb.out, progress);
  }
  return {shells.pairs(), shells.storage(), shells.bytes()};
}

/// One shell as a graph, so that it is written in any format that a graph is.
Answer write_shell(const Graph& graph, ShellOptions options, const ShellsVerb& verb) {
  options.hops = *verb.hop;
  if (options.storage == Storage::automatic) options.storage = Storage::sparse;
  const Shells shells = build_shells(graph, options);
  std::vector<std::uint64_t> offsets{0};
  std::vector<NodeId> targets;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto columns = shells.columns(u, *verb.hop);
    targets.insert(targets.end(), columns.begin(), columns.end());
    offsets.push_back(targets.size());
  }
  Dataset shell;
  shell.graph = Graph(std::move(offsets), std::move(targets), {}, graph.directed());
  TerminalProgress progress("writing " + verb.out.string(), verb.common.quiet);
  io::write_graph(verb.out, shell, {}, &progress);
  return {shells.pairs(), shells.storage(), shells.bytes()};
}

Answer find_shells(const Graph& graph, const ShellOptions& options, const ShellsVerb& verb) {
  if (verb.distances) return write_distances(graph, options, verb);
  if (verb.hop) return write_shell(graph, options, verb);
  // Sizes alone need nothing held, unless it was asked for.
  if (options.storage == Storage::automatic || options.storage == Storage::stream) {
    return {shell_sizes(graph, options), Storage::stream, 0};
  }
  const Shells shells = build_shells(graph, options);
  return {shells.pairs(), shells.storage(), shells.bytes()};
}

void print_for_people(const Answer& answer, double seconds, const Graph& graph) {
  const double all = static_cast<double>(graph.nodes()) * static_cast<double>(graph.nodes());
  fmt::print("{:>6} {:>16} {:>9}\n", "hops", "pairs", "share");
  for (std::size_t k = 0; k < answer.pairs.size(); ++k) {
    const double share = static_cast<double>(answer.pairs[k]) / all;
    fmt::print("{:>6} {:>16} {:>8.3f}%  {:#<{}}\n", k, answer.pairs[k], share * 100, "",
               static_cast<int>(share * 100));
  }
  fmt::print("storage {}, {} bytes, {:.3g} s\n", storage_name(answer.storage), answer.bytes,
             seconds);
}

void run_shells(const ShellsVerb& verb) {
  if ((verb.distances || verb.hop) && verb.out.empty()) {
    throw CLI::ValidationError("-o", "name the file to write: -o FILE");
  }
  const io::ReadResult read = verb.source.load(verb.common);
  const Graph& graph = read.dataset.graph;
  TerminalProgress progress("walking", verb.common.quiet);
  const ShellOptions options = verb.flags.options(verb.common, &progress);
  const auto begun = std::chrono::steady_clock::now();
  Answer answer = find_shells(graph, options, verb);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  // Shells that were asked for and are empty are said to be empty.
  const std::uint32_t last = verb.hop.value_or(options.hops);
  if (last != all_hops) answer.pairs.resize(last + std::size_t{1}, 0);
  if (verb.common.json) {
    Json json{{"nodes", graph.nodes()},
              {"pairs", answer.pairs},
              {"storage", storage_name(answer.storage)},
              {"bytes", answer.bytes},
              {"seconds", seconds}};
    if (!verb.out.empty()) json["written"] = verb.out.string();
    print_json(json);
  } else {
    print_for_people(answer, seconds, graph);
    if (!verb.out.empty()) fmt::print("written {}\n", verb.out.string());
  }
}

}  // namespace

void add_shells(CLI::App& program) {
  auto shells = std::make_shared<ShellsVerb>();
  CLI::App* const verb = program.add_subcommand(
      "shells", "Who is exactly k hops from whom: sizes, one shell, or all hops");
  shells->source.add_to(*verb);
  shells->flags.add_to(*verb, true);
  CLI::Option* const hop =
      verb->add_option("--hop", shells->hop, "Write the shell of this hop, as a matrix: -o A.npz");
  verb->add_flag("--distances", shells->distances,
                 "Write the hops of all pairs: -o D.npy (255 = farther; uint16 where needed)")
      ->excludes(hop);
  verb->add_option("-o,--output", shells->out, "File to write");
  shells->common.add_to(*verb);
  verb->callback([shells] { run_shells(*shells); });
}

}  // namespace ngf::cli
