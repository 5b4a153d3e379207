#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "common.hpp"
#include "graph_source.hpp"
#include "ngf/error.hpp"
#include "ngf/io/catalog.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct Data {
  Common common;
  std::filesystem::path folder;
  std::string name;
  std::string from;
};

/// The download folder of `data get`: --data, or the user's cache.
std::filesystem::path fetch_target(const Data& data) {
  std::filesystem::path target = data.folder.empty() ? user_cache() : data.folder;
  if (target.empty())
    throw Error("neither HOME nor XDG_CACHE_HOME is set; name a folder: --data DIR");
  return target;
}

Json describe(const io::KnownDataset& set, const Data& data) {
  const auto found = io::locate_dataset(set.name, GraphSource::folders(data.folder));
  Json json{{"name", set.name}, {"bytes", set.bytes()}, {"found", found.has_value()}};
  if (found) json["path"] = std::filesystem::absolute(*found).lexically_normal().string();
  return json;
}

void list_sets(const Data& data) {
  Json sets = Json::array();
  for (const io::KnownDataset& set : io::known_datasets()) sets.push_back(describe(set, data));
  if (data.common.json) {
    print_json({{"sets", sets}});
    return;
  }
  for (const Json& set : sets) {
    fmt::print("{:<20} {:>6.1f} MB  {}\n", set["name"].get<std::string>(),
               set["bytes"].get<double>() / 1e6,
               set["found"].get<bool>() ? set["path"].get<std::string>()
                                        : fmt::format("not here; fetch it: ngf data get {}",
                                                      set["name"].get<std::string>()));
  }
}

void get_set(const Data& data) {
  TerminalProgress progress("fetching " + data.name, data.common.quiet);
  const std::filesystem::path folder =
      io::fetch_dataset(data.name, fetch_target(data), data.from, &progress);
  if (data.common.json) {
    print_json({{"sets", Json::array({{{"name", data.name}, {"path", folder.string()}}})}});
  } else {
    fmt::print("{} is in {}\n", data.name, folder.string());
  }
}

void show_path(const Data& data) {
  const std::filesystem::path path =
      data.name.empty() ? fetch_target(data)
                        : io::find_dataset(data.name, GraphSource::folders(data.folder));
  if (data.common.json) {
    print_json({{"path", path.string()}});
  } else {
    fmt::print("{}\n", path.string());
  }
}

}  // namespace

void add_data(CLI::App& program) {
  auto data = std::make_shared<Data>();
  CLI::App* const verb = program.add_subcommand("data", "List, locate or download named data sets");
  verb->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, void (*run)(const Data&)) {
    CLI::App* const action = verb->add_subcommand(name, help);
    action->add_option("--data", data->folder, "Folder of data sets");
    data->common.add_to(*action);
    action->callback([data, run] { run(*data); });
    return action;
  };
  add("list", "All data sets that have a name", list_sets);
  CLI::App* const get = add("get", "Download a data set and check it", get_set);
  get->add_option("NAME", data->name, "Name of the data set, such as planetoid:cora")->required();
  get->add_option("--from", data->from, "URL of a folder with the files [the authors' own]");
  CLI::App* const path =
      add("path", "Print the folder of a data set, or the download folder", show_path);
  path->add_option("NAME", data->name, "Name of the data set, such as planetoid:cora");
}

}  // namespace ngf::cli
