#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/fail.hpp"
#include "ngf/generate.hpp"

namespace ngf {

namespace {

/// The text after the colon: "key=value,key=value". `get` reads each value by its key; then `done`
/// refuses keys that were never read.
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

  /// A value that is given, or `otherwise`. Without that, the value has to be given.
  template <typename T>
  T get(const std::string& key, std::optional<T> otherwise = {}) {
    known_.push_back(key);
    const auto place = given_.find(key);
    if (place != given_.end()) return parse<T>(key, place->second);
    if (!otherwise && missing_.empty()) missing_ = key;
    return otherwise.value_or(T{});
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
  const auto count = [&](const char* key, std::optional<Count> otherwise = {}) {
    return values.get<Count>(key, otherwise);
  };
  const auto seed = [&] { return count("seed", default_seed); };
  // Braces have their values asked for in this order, which is that of error texts.
  const auto made = [&](auto generate, auto arguments) {
    values.done();
    Dataset dataset;
    dataset.graph = std::apply([&](auto... each) { return generate(each..., options); }, arguments);
    return dataset;
  };
  if (kind == "grid") return made(grid, std::tuple{count("rows", 140), count("cols", 140)});
  if (kind == "rmat") {
    return made(rmat, std::tuple{count("scale", 16), count("edge_factor", 16), seed()});
  }
  if (kind == "sbm") {
    return made(stochastic_block_model,
                std::tuple{count("nodes", 256), count("blocks", 8), values.get<double>("p", 0.3),
                           values.get<double>("q", 0.0075), seed()});
  }
  if (kind == "er") {
    return made(erdos_renyi, std::tuple{count("nodes"), values.get<double>("p"), seed()});
  }
  if (kind == "ws") {
    return made(watts_strogatz,
                std::tuple{count("nodes"), count("k", 4), values.get<double>("beta", 0.1), seed()});
  }
  return made(barabasi_albert, std::tuple{count("nodes"), count("m", 3), seed()});
}

}  // namespace ngf
