#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "ngf/generate.hpp"

namespace ngf {

using detail::fail;

namespace {

/// What stands after the colon: "key=value,key=value". Every value is asked for by its key; then
/// `done` refuses keys that nobody asked for.
class Values {
 public:
  /// `kind` is what errors call the model.
  Values(std::string kind, std::string_view text) : kind_(std::move(kind)) {
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      const std::string_view item = text.substr(0, comma);
      const std::size_t equals = item.find('=');
      if (equals == std::string_view::npos) {
        fail("{}: '{}' is not of the form key=value", kind_, item);
      }
      const auto [place, is_new] = given_.emplace(item.substr(0, equals), item.substr(equals + 1));
      if (!is_new) fail("{}: {} is given twice", kind_, place->first);
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
  }

  template <typename T>
  T get(const std::string& key, T otherwise) {
    known_.push_back(key);
    const auto place = given_.find(key);
    return place == given_.end() ? otherwise : parse<T>(key, place->second);
  }

  template <typename T>
  T get_required(const std::string& key) {
    known_.push_back(key);
    const auto place = given_.find(key);
    if (place == given_.end()) {
      if (missing_.empty()) missing_ = key;
      return T{};
    }
    return parse<T>(key, place->second);
  }

  void done() const {
    const std::string keys = fmt::format("{}", fmt::join(known_, ", "));
    for (const auto& [key, value] : given_) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        fail("{}: unknown key '{}'; {}", kind_, key,
             keys.empty() ? "it takes none" : "the known ones are " + keys);
      }
    }
    if (!missing_.empty()) fail("{}: {}=... is missing; the keys are {}", kind_, missing_, keys);
  }

 private:
  template <typename T>
  T parse(const std::string& key, const std::string& text) const {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) {
      fail("{}: {}={} must be {}", kind_, key, text,
           std::is_integral_v<T> ? "a whole number, 0 or more" : "a number");
    }
    return value;
  }

  std::string kind_;
  std::map<std::string, std::string> given_;
  std::vector<std::string> known_;
  std::string missing_;
};

using Count = std::uint64_t;

Dataset bare(Graph graph) {
  Dataset dataset;
  dataset.graph = std::move(graph);
  return dataset;
}

Dataset builtin(std::string_view text, Count default_seed, const GenerateOptions& options) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string_view name = text.substr(0, comma);
  const std::string_view rest = text.substr(std::min(comma + 1, text.size()));
  if (name == "karate") {
    Values("builtin:karate", rest).done();
    return karate_club();
  }
  if (name == "citation") {
    Values values("builtin:citation", rest);
    const auto nodes = values.get<Count>("nodes", 2708);
    const auto seed = values.get<Count>("seed", default_seed);
    values.done();
    return citation_network(nodes, seed, options);
  }
  fail("builtin:{}: unknown name; the known ones are karate, citation", name);
}

}  // namespace

std::optional<Dataset> generate_from_spec(std::string_view spec, std::uint64_t default_seed,
                                          const GenerateOptions& options) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string kind(spec.substr(0, colon));
  const std::string_view text = spec.substr(colon + 1);
  if (kind == "builtin") return builtin(text, default_seed, options);
  const bool known = kind == "sbm" || kind == "er" || kind == "ws" || kind == "ba" ||
                     kind == "grid" || kind == "rmat";
  if (!known) return {};

  Values values(kind, text);
  if (kind == "grid") {
    const auto rows = values.get<Count>("rows", 140);
    const auto cols = values.get<Count>("cols", 140);
    values.done();
    return bare(grid(rows, cols, options));
  }
  if (kind == "rmat") {
    const auto scale = values.get<Count>("scale", 16);
    const auto edge_factor = values.get<Count>("edge_factor", 16);
    const auto seed = values.get<Count>("seed", default_seed);
    values.done();
    return bare(rmat(scale, edge_factor, seed, options));
  }
  if (kind == "sbm") {
    const auto nodes = values.get<Count>("nodes", 256);
    const auto blocks = values.get<Count>("blocks", 8);
    const auto p = values.get<double>("p", 0.3);
    const auto q = values.get<double>("q", 0.0075);
    const auto seed = values.get<Count>("seed", default_seed);
    values.done();
    return bare(stochastic_block_model(nodes, blocks, p, q, seed, options));
  }
  const auto nodes = values.get_required<Count>("nodes");
  if (kind == "er") {
    const auto p = values.get_required<double>("p");
    const auto seed = values.get<Count>("seed", default_seed);
    values.done();
    return bare(erdos_renyi(nodes, p, seed, options));
  }
  if (kind == "ws") {
    const auto k = values.get<Count>("k", 4);
    const auto beta = values.get<double>("beta", 0.1);
    const auto seed = values.get<Count>("seed", default_seed);
    values.done();
    return bare(watts_strogatz(nodes, k, beta, seed, options));
  }
  const auto m = values.get<Count>("m", 3);
  const auto seed = values.get<Count>("seed", default_seed);
  values.done();
  return bare(barabasi_albert(nodes, m, seed, options));
}

}  // namespace ngf
