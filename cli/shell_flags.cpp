#include "shell_flags.hpp"

#include <fmt/format.h>

#include <charconv>

#include "names.hpp"

namespace ngf::cli {

namespace {

std::uint32_t parse_hops(const std::string& text) {
  if (text == "all") return all_hops;
  std::uint32_t hops = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hops);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw CLI::ValidationError("--hops", fmt::format("'{}' is neither a number nor 'all'", text));
  }
  return hops;
}

}  // namespace

void ShellFlags::add_to(CLI::App& verb, bool hops_required) {
  verb.add_option("--hops", hops_, "Shells 0 to this many hops; all: to the diameter")
      ->required(hops_required)
      ->check([](const std::string& text) {
        parse_hops(text);
        return std::string();
      });
  verb.add_option("--storage", storage_, "How shells are held")
      ->check(CLI::IsMember(names_of(storage_name, Storage::stream)))
      ->capture_default_str();
  verb.add_option("--engine", engine_, "How shells are found")
      ->check(CLI::IsMember(names_of(engine_name, Engine::queue)))
      ->capture_default_str();
  verb.add_option("--min-paths", min_paths_,
                  "A pair at 2 hops or more counts if this many shortest paths join it")
      ->check(CLI::Range(1, 3))
      ->capture_default_str();
}

ShellOptions ShellFlags::options(const Common& common, Progress* progress) const {
  ShellOptions options;
  if (given()) options.hops = parse_hops(hops_);
  options.storage = kind_named(storage_, storage_name, Storage::stream);
  options.engine = kind_named(engine_, engine_name, Engine::queue);
  options.min_paths = min_paths_;
  options.threads = common.threads;
  options.memory = common.memory;
  options.seed = common.seed;
  options.progress = progress;
  return options;
}

}  // namespace ngf::cli
