#include "graph_source.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/memory.hpp"
#include "base/names.hpp"
#include "base/parallel.hpp"
#include "data_streams.hpp"
#include "io/atomic_file.hpp"
#include "io/words.hpp"
#include "ngf/components.hpp"
#include "ngf/error.hpp"
#include "ngf/io/catalog.hpp"
#include "ngf/io/load.hpp"
#include "ranks.hpp"

namespace ngf::cli {

namespace {

/// The id of node u in the file.
NodeId id_of(const io::ReadResult& read, NodeId u) {
  return read.original_ids.empty() ? u + read.first_id : read.original_ids[u];
}

/// One line per node: its number here, and its id or name in the file.
void write_id_map(const std::filesystem::path& path, const io::ReadResult& read) {
  io::AtomicFile file(path);
  const NodeNames& names = read.dataset.names;
  std::string text = names.empty() ? "node,id\n" : "node,name\n";
  for (NodeId u = 0; u < read.dataset.graph.nodes(); ++u) {
    text += names.empty() ? fmt::format("{},{}\n", u, id_of(read, u))
                          : fmt::format("{},{}\n", u, io::as_field(names[u], ','));
  }
  file.write(text);
  file.commit();
}

void keep_largest_component(io::ReadResult& result, std::uint64_t memory) {
  const std::vector<NodeId> kept = connected_components(result.dataset.graph).largest();
  if (kept.size() == result.dataset.graph.nodes()) return;
  detail::check_budget(2 * result.dataset.graph.bytes(), memory, "the largest component");
  result.dataset = restrict_to(result.dataset, kept);
  if (!result.dataset.names.empty()) return;
  std::vector<NodeId> ids;
  ids.reserve(kept.size());
  for (const NodeId u : kept) ids.push_back(id_of(result, u));
  result.original_ids = std::move(ids);
}

}  // namespace

void GraphSource::add_to(CLI::App& verb, bool required, const std::string& argument) {
  verb.add_option(argument, name_,
                  "A file, - for standard input; planetoid:cora|citeseer|pubmed; "
                  "builtin:karate|citation; or "
                  "sbm:, er:, ws:, ba:, grid:, rmat: with key=value,...")
      ->required(required);
  const auto* const group = "How to read the graph";
  verb.add_flag("--directed", directed_, "Keep the direction of edges")->group(group);
  verb.add_flag("--largest-component", largest_component_, "Drop all but the largest component")
      ->group(group);
  verb.add_flag("--keep-self-loops", keep_self_loops_, "Keep edges from a node to itself")
      ->group(group);
  verb.add_option("--format", format_, "Format of the file [detected from its content]")
      ->check(CLI::IsMember(detail::names_of(io::format_name, io::Format::npz_ppnp)))
      ->group(group);
  verb.add_option("--ids", ids_,
                  "Ids of an edge list: row numbers, numbers to be renumbered, or names "
                  "[detected]")
      ->check(CLI::IsMember({"rows", "compact", "names"}))
      ->group(group);
  verb.add_option("--base", base_, "The smallest row number of an edge list")
      ->check(CLI::IsMember({0, 1}))
      ->group(group);
  verb.add_flag("--lenient", lenient_,
                "Read a file that contradicts its header or itself, with a warning")
      ->group(group);
  verb.add_option("--id-map", id_map_,
                  "Write a table of node numbers and the ids or names of the file")
      ->group(group);
  verb.add_option("--data", data_, "Folder with named data sets")->group(group);
}

std::vector<std::filesystem::path> GraphSource::folders(const std::filesystem::path& first) {
  std::vector<std::filesystem::path> result;
  if (!first.empty()) result.push_back(first);
  if (const char* const named = std::getenv("NGF_DATA")) result.emplace_back(named);
  result.emplace_back("data");
  result.push_back(user_cache());
  return result;
}

io::ReadResult GraphSource::load_any(const Common& common, Progress& progress) const {
  io::ReadOptions options;
  options.directed = directed_;
  options.keep_self_loops = keep_self_loops_;
  if (!format_.empty())
    options.format = detail::kind_named(format_, io::format_name, io::Format::npz_ppnp);
  if (!ids_.empty()) options.ids = detail::kind_named(ids_, io::ids_name, io::Ids::names);
  options.base = base_;
  options.lenient = lenient_;
  options.threads = common.threads;
  options.memory = common.memory;
  options.progress = &progress;
  return io::load(input_path(name_), options, folders(data_), common.seed);
}

io::ReadResult GraphSource::load(const Common& common) const {
  detail::start_helpers(common.threads);
  if (!speaks()) return {};
  check_writable(id_map_);
  TerminalProgress progress("reading " + name_, common.quiet);
  io::ReadResult result = load_any(common, progress);
  for (const std::string& text : result.notes) note(common, text);
  for (const std::string& text : result.warnings) warn(common, text);
  if (largest_component_) keep_largest_component(result, common.memory);
  if (!id_map_.empty()) write_id_map(id_map_, result);
  return result;
}

std::filesystem::path user_cache() {
  return io::cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
}

}  // namespace ngf::cli
