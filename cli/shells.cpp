#include "ngf/shells.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "base/memory.hpp"
#include "common.hpp"
#include "data_streams.hpp"
#include "graph_source.hpp"
#include "io/atomic_file.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "plan_report.hpp"
#include "ranks.hpp"
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
  bool plan = false;
  std::filesystem::path out;
};

/// Output of the verb.
struct Answer {
  std::vector<std::uint64_t> pairs;
  Storage storage = Storage::stream;
  std::uint64_t bytes = 0;
  std::uint64_t own_pairs = 0;  ///< where several processes have worked: those of this one
  Json ranks = nullptr;         ///< and what each has
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

/// The same with several ranks, in the original order of the nodes.
template <typename Hop>
void write_hops_of(const Shells& shells, const Partition& partition,
                   const std::filesystem::path& path) {
  const std::array<std::uint64_t, 2> shape{partition.nodes(), partition.nodes()};
  const auto write = [&]<typename Held>(const HopMatrix<Held>& matrix) {
    write_rows(path, io::npy_header(sizeof(Hop) == 1 ? "|u1" : "<u2", shape),
               partition.nodes() * sizeof(Hop), partition, [&](NodeId u, std::byte* to) {
                 auto* const row = reinterpret_cast<Hop*>(to);
                 for (NodeId v = 0; v < partition.nodes(); ++v) {
                   const Held hop = matrix(u, v);
                   row[partition.old_number(v)] = hop == HopMatrix<Held>::farther
                                                      ? HopMatrix<Hop>::farther
                                                      : static_cast<Hop>(hop);
                 }
               });
  };
  if (const auto* bytes = std::get_if<HopMatrix<std::uint8_t>>(&shells.held())) {
    write(*bytes);
  } else if (const auto* words = std::get_if<HopMatrix<std::uint16_t>>(&shells.held())) {
    write(*words);
  } else {
    write(HopMatrix<std::uint8_t>(0));
  }
}

/// Storage and size of the shells.
Answer answer_of(const Shells& shells) {
  return {.pairs = shells.pairs(), .storage = shells.storage(), .bytes = shells.bytes()};
}

/// The shells, with a progress bar.
Shells build(const Graph& graph, const ShellOptions& options, const ShellsVerb& verb) {
  TerminalProgress progress("finding shells", verb.common.quiet);
  return build_shells(graph, options, &progress);
}

Answer write_distances(const Graph& graph, const ShellOptions& options, const ShellsVerb& verb,
                       const Partition* partition) {
  const Shells shells = build(graph, options, verb);
  TerminalProgress progress("writing " + verb.out.string(), verb.common.quiet);
  if (partition != nullptr) {
    // Two bytes if any rank needs them.
    std::array<std::uint64_t, 1> wide{
        std::holds_alternative<HopMatrix<std::uint16_t>>(shells.held()) ? 1U : 0U};
    partition->communicator().sum(std::span<std::uint64_t>(wide));
    if (wide[0] > 0) {
      write_hops_of<std::uint16_t>(shells, *partition, verb.out);
    } else {
      write_hops_of<std::uint8_t>(shells, *partition, verb.out);
    }
    return answer_of(shells);
  }
  if (const auto* bytes = std::get_if<HopMatrix<std::uint8_t>>(&shells.held())) {
    write_matrix(*bytes, verb.out, progress);
  } else if (const auto* words = std::get_if<HopMatrix<std::uint16_t>>(&shells.held())) {
    write_matrix(*words, verb.out, progress);
  } else {
    write_matrix(HopMatrix<std::uint8_t>(0), verb.out, progress);
  }
  return answer_of(shells);
}

/// One shell with this number of pairs, with all rows, as a graph.
Graph shell_as_graph(const Shells& shells, std::uint32_t hop, std::uint64_t count, bool directed,
                     std::uint64_t memory) {
  // Its number, and a value with its copy where the file has values.
  constexpr std::uint64_t bytes_of_pair = sizeof(NodeId) + 2 * sizeof(float);
  detail::check_budget(count * bytes_of_pair, memory, fmt::format("shell {}", hop));
  std::vector<std::uint64_t> offsets{0};
  std::vector<NodeId> targets;
  targets.reserve(count);
  for (NodeId u = 0; u < shells.nodes(); ++u) {
    const auto columns = shells.columns(u, hop);
    targets.insert(targets.end(), columns.begin(), columns.end());
    offsets.push_back(targets.size());
  }
  return {std::move(offsets), std::move(targets), {}, directed};
}

/// The same from the rows of all ranks, in the original order of the nodes.
Graph gather_shell(const Shells& shells, std::uint32_t hop, bool directed,
                   const Partition& partition) {
  std::string own;
  for (NodeId u = shells.rows().begin; u < shells.rows().end; ++u) {
    for (const NodeId v : shells.columns(u, hop)) {
      const Edge arc{partition.old_number(u), partition.old_number(v)};
      own.append(reinterpret_cast<const char*>(&arc), sizeof(Edge));
    }
  }
  std::vector<Edge> arcs;
  for (const std::string& part : partition.communicator().gather(own)) {
    const std::size_t count = part.size() / sizeof(Edge);
    arcs.resize(arcs.size() + count);
    std::copy(part.begin(), part.end(),
              reinterpret_cast<char*>(arcs.data() + (arcs.size() - count)));
  }
  BuildOptions options;
  options.directed = directed;
  options.keep_self_loops = true;
  options.entries_of_matrix = true;
  return build_graph(shells.nodes(), arcs, options);
}

/// Prints the first edges on a terminal.
void print_edges(const Dataset& shell) {
  const Graph& graph = shell.graph;
  std::vector<std::vector<std::string>> rows;
  for (NodeId u = 0; u < graph.nodes() && rows.size() < shown_rows; ++u) {
    for (const NodeId v : graph.neighbors(u)) {
      if (!graph.directed() && v < u) continue;
      if (rows.size() < shown_rows)
        rows.push_back({label_of(shell.names, u), label_of(shell.names, v)});
    }
  }
  print_rows({"from", "to"}, rows, graph.edges() + graph.self_loops());
}

/// One shell as a graph, which can be written in all graph formats.
Answer write_shell(const Graph& graph, const NodeNames& names, ShellOptions options,
                   const ShellsVerb& verb, const Partition* partition) {
  options.hops = *verb.hop;
  if (options.storage == Storage::automatic) options.storage = Storage::sparse;
  const Shells shells = build(graph, options, verb);
  Answer answer = answer_of(shells);
  const std::uint64_t count = *verb.hop < answer.pairs.size() ? answer.pairs[*verb.hop] : 0;
  Dataset shell;
  shell.graph = partition == nullptr
                    ? shell_as_graph(shells, *verb.hop, count, graph.directed(), verb.common.memory)
                    : gather_shell(shells, *verb.hop, graph.directed(), *partition);
  shell.names = names;
  if (!speaks()) return answer;
  if (to_terminal(verb.out)) {
    print_edges(shell);
  } else if (to_stdout(verb.out)) {
    io::AtomicFile file(output_path(verb.out));
    io::write_edge_list(file, shell.graph, shell.names, ',', nullptr);
    file.commit();
  } else {
    TerminalProgress progress("writing " + verb.out.string(), verb.common.quiet);
    const io::WriteResult written = io::write_graph(verb.out, shell, {}, &progress);
    for (const std::string& text : written.warnings) warn(verb.common, text);
  }
  return answer;
}

Answer find_shells(const Graph& graph, const NodeNames& names, const ShellOptions& options,
                   const ShellsVerb& verb, const Partition* partition) {
  if (verb.distances) return write_distances(graph, options, verb, partition);
  if (verb.hop) return write_shell(graph, names, options, verb, partition);
  // Sizes need no storage, unless one was requested.
  if (options.storage == Storage::automatic || options.storage == Storage::stream) {
    TerminalProgress progress("counting pairs", verb.common.quiet);
    if (partition == nullptr) return {.pairs = shell_sizes(graph, options, &progress)};
    // No rows are kept, so that any rank may count them.
    ShellOptions of_all = options;
    of_all.rows = {};
    const auto rank = static_cast<std::size_t>(partition->communicator().rank());
    const auto ranks = static_cast<std::size_t>(partition->communicator().size());
    return {.pairs = part_of_shell_sizes(graph, of_all, rank, ranks, &progress)};
  }
  return answer_of(build(graph, options, verb));
}

/// Combines the results of all ranks.
void add_up(Answer& answer, const Partition& partition) {
  answer.own_pairs = std::accumulate(answer.pairs.begin(), answer.pairs.end(), std::uint64_t{0});
  answer.pairs.resize(partition.communicator().largest(answer.pairs.size()), 0);
  partition.communicator().sum(std::span(answer.pairs));
}

/// The answer in lines for people.
std::string text_of(const Answer& answer, double seconds, const Graph& graph) {
  std::string text;
  const auto to = std::back_inserter(text);
  const double all = static_cast<double>(graph.nodes()) * static_cast<double>(graph.nodes());
  fmt::format_to(to, "{:>6} {:>16} {:>9}\n", "hops", "pairs", "share");
  for (std::size_t k = 0; k < answer.pairs.size(); ++k) {
    const double share = static_cast<double>(answer.pairs[k]) / all;
    fmt::format_to(to, "{:>6} {:>16} {:>8.3f}%  {:#<{}}\n", k, answer.pairs[k], share * 100, "",
                   static_cast<int>(share * 100));
  }
  fmt::format_to(to, "storage {}, {} bytes, {:.3g} s\n", storage_name(answer.storage), answer.bytes,
                 seconds);
  for (const Json& rank : answer.ranks) {
    fmt::format_to(to, "rank {}: {} nodes, {} pairs, {} of shells, {} of memory at most\n",
                   rank["rank"].get<int>(), rank["nodes"].get<NodeId>(),
                   rank["pairs"].get<std::uint64_t>(),
                   detail::human_bytes(rank["bytes"].get<std::uint64_t>()),
                   detail::human_bytes(rank["peak_bytes"].get<std::uint64_t>()));
  }
  return text;
}

/// The number of hops where none is given.
constexpr std::uint32_t usual_hops = 32;

bool takes_usual_hops(const ShellsVerb& verb) {
  return !verb.flags.given() && !verb.distances && !verb.hop;
}

ShellOptions options_of(const ShellsVerb& verb) {
  ShellOptions options = verb.flags.options(verb.common);
  options.must_store = verb.distances || verb.hop;
  if (verb.distances) options.storage = Storage::dense;
  if (verb.flags.given()) return options;
  // One hop more tells whether any pair is farther.
  options.hops = verb.distances ? all_hops : verb.hop.value_or(usual_hops + 1);
  return options;
}

/// Drops the hop beyond the default number of hops, and says so unless it is empty.
void drop_last_hop(const ShellsVerb& verb, Answer& answer) {
  if (answer.pairs.size() <= usual_hops + 1) return;
  const bool farther = answer.pairs.back() > 0;
  answer.pairs.resize(usual_hops + 1);
  if (!farther) return;
  warn(verb.common,
       fmt::format("pairs farther than {} hops are not counted; --hops all counts them",
                   usual_hops));
}

void run_shells(const ShellsVerb& verb) {
  if (verb.distances && to_stdout(verb.out) && !verb.plan) {
    throw CLI::ValidationError("-o", "name the file to write: -o D.npy");
  }
  if (verb.hop && !verb.plan) {
    check_output(verb.common, verb.out);
  } else {
    check_writable(verb.out);
  }
  io::ReadResult read = verb.source.load(verb.common);
  const NodeNames names = std::move(read.dataset.names);  // on the rank that writes
  ShellOptions options = options_of(verb);
  std::shared_ptr<const Partition> partition;
  if (communicator() != nullptr) {
    ShardedDataset sharded = distribute_graph(read.dataset.graph, options.hops);
    read.dataset = std::move(sharded.dataset);
    partition = std::move(sharded.partition);
    options.rows = partition->own();
  }
  const Graph& graph = read.dataset.graph;
  if (verb.plan) {
    return print_plan(plan_json(plan_shells(graph, options), graph.nodes()), verb.common);
  }
  const auto begun = std::chrono::steady_clock::now();
  Answer answer = find_shells(graph, names, options, verb, partition.get());
  if (partition != nullptr) add_up(answer, *partition);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (partition != nullptr) {
    answer.ranks = by_rank(*partition, answer.own_pairs, answer.bytes);
    answer.bytes = 0;
    for (const Json& rank : answer.ranks) answer.bytes += rank.at("bytes").get<std::uint64_t>();
  }
  if (takes_usual_hops(verb)) {
    drop_last_hop(verb, answer);
  } else if (const std::uint32_t last = verb.hop.value_or(options.hops); last != all_hops) {
    answer.pairs.resize(last + std::size_t{1}, 0);  // prints requested shells that are empty
  }
  if (verb.common.json) {
    Json json{{"nodes", graph.nodes()},
              {"pairs", answer.pairs},
              {"storage", storage_name(answer.storage)},
              {"bytes", answer.bytes},
              {"seconds", seconds}};
    if (!answer.ranks.is_null()) json["ranks"] = answer.ranks;
    if (!verb.out.empty()) json["written"] = verb.out.string();
    print_json(json);
  } else {
    std::string text = text_of(answer, seconds, graph);
    if (!to_stdout(verb.out)) text += fmt::format("written {}\n", verb.out.string());
    if (verb.hop) {
      print_summary(verb.common, verb.out, text);
    } else {
      fmt::print("{}", text);
    }
  }
}

}  // namespace

void add_shells(CLI::App& program) {
  auto shells = std::make_shared<ShellsVerb>();
  CLI::App* const verb = program.add_subcommand(
      "shells", "Compute k-hop shells: their sizes, one shell, or all hop distances");
  shells->source.add_to(*verb);
  shells->flags.add_to(*verb);
  verb->get_option("--hops")->default_str("32");
  CLI::Option* const hop =
      verb->add_option("--hop", shells->hop,
                       "Write the shell of this hop as a matrix (-o A.npz), or as CSV to stdout");
  verb->add_flag("--plan", shells->plan, "Print the plan of the computation and exit");
  verb->add_flag("--distances", shells->distances,
                 "Write the hop distances of all pairs: -o D.npy (255 = farther; uint16 if needed)")
      ->excludes(hop);
  verb->add_option("-o,--output", shells->out, "File to write");
  shells->common.add_to(*verb);
  verb->callback([shells] { run_shells(*shells); });
}

}  // namespace ngf::cli
