#include "shell_flags.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/names.hpp"

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

CLI::Option* add_storage_flag(CLI::App& verb, std::string& storage) {
  return verb.add_option("--storage", storage, "How shells are stored in memory")
      ->check(CLI::IsMember(detail::names_of(storage_name, Storage::stream)));
}

Storage storage_named(const std::string& name) {
  return detail::kind_named(name, storage_name, Storage::stream);
}

CLI::Option* add_min_paths_flag(CLI::App& verb, int& min_paths) {
  return verb
      .add_option("--min-paths", min_paths,
                  "Keep a pair at 2 or more hops only if it has this many shortest paths")
      ->check(CLI::Range(1, 3));
}

void ShellFlags::add_to(CLI::App& verb) {
  add_streamed_to(verb);
  add_storage_flag(verb, storage_)->capture_default_str();
}

void ShellFlags::add_streamed_to(CLI::App& verb) {
  verb.add_option("--hops", hops_, "Compute shells 0..H; all: up to the diameter")
      ->check([](const std::string& text) {
        parse_hops(text);
        return std::string();
      });
  verb.add_option("--engine", engine_, "Algorithm that computes the shells")
      ->check(CLI::IsMember(detail::names_of(engine_name, Engine::queue)))
      ->capture_default_str();
  add_min_paths_flag(verb, min_paths_)->capture_default_str();
}

ShellOptions ShellFlags::options(const Common& common) const {
  ShellOptions options;
  if (given()) options.hops = parse_hops(hops_);
  options.storage = storage_named(storage_);
  options.engine = detail::kind_named(engine_, engine_name, Engine::queue);
  options.min_paths = min_paths_;
  options.threads = common.threads;
  options.memory = common.memory;
  options.seed = common.seed;
  return options;
}

}  // namespace ngf::cli
