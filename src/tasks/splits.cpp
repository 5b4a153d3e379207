#include "ngf/tasks/splits.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <span>

#include "base/fail.hpp"
#include "base/streams.hpp"

namespace ngf {

namespace {

// Planetoid's.
constexpr std::size_t train_of_class = 20;
constexpr std::size_t validation_size = 500;
constexpr std::size_t test_size = 1000;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || stop != end) return {};
  return value;
}

void check_labels(const Dataset& dataset) {
  if (dataset.labels.empty()) {
    fail("the data set has no labels, so there is nothing to learn; choose one that has");
  }
}

/// The part without nodes whose label is not known.
std::vector<NodeId> labelled(const std::vector<NodeId>& part, const Dataset& dataset,
                             std::string_view name) {
  std::vector<NodeId> kept;
  std::copy_if(part.begin(), part.end(), std::back_inserter(kept),
               [&](NodeId u) { return dataset.labels[u] >= 0; });
  if (kept.empty()) {
    fail("the split has no labelled node for {}; choose another, such as random:1", name);
  }
  return kept;
}

Split labelled(const Split& split, const Dataset& dataset) {
  return {labelled(split.train, dataset, "training"),
          labelled(split.validation, dataset, "validation"),
          labelled(split.test, dataset, "testing")};
}

/// Moves the last `count` nodes of `from` to `to`.
void move_last(std::vector<NodeId>& from, std::size_t count, std::vector<NodeId>& to) {
  to.insert(to.end(), from.end() - static_cast<std::ptrdiff_t>(count), from.end());
  from.resize(from.size() - count);
}

/// The nodes of each class that occurs, in random order.
std::vector<std::vector<NodeId>> shuffled_classes(const Dataset& dataset, std::uint64_t seed) {
  std::map<std::int32_t, std::vector<NodeId>> members;
  for (NodeId u = 0; u < dataset.graph.nodes(); ++u) {
    if (dataset.labels[u] >= 0) members[dataset.labels[u]].push_back(u);
  }
  std::vector<std::vector<NodeId>> classes;
  for (auto& [label, nodes] : members) {
    shuffle(nodes, random_for(seed, Use::split_class, static_cast<std::uint64_t>(label)));
    classes.push_back(std::move(nodes));
  }
  return classes;
}

bool room_for_planetoid(std::span<const std::vector<NodeId>> classes) {
  std::size_t nodes = 0;
  for (const auto& members : classes) {
    if (members.size() < train_of_class) return false;
    nodes += members.size();
  }
  return nodes >= classes.size() * train_of_class + validation_size + test_size;
}

}  // namespace

std::vector<Split> choose_splits(const Dataset& dataset, std::string_view text) {
  if (text != "all") return {choose_split(dataset, text)};
  if (dataset.splits.empty()) {
    fail("the data set has no splits of its own; choose one, such as random:1");
  }
  std::vector<Split> splits;
  for (std::size_t s = 0; s < dataset.splits.size(); ++s) {
    splits.push_back(choose_split(dataset, std::to_string(s)));
  }
  return splits;
}

Split random_split(const Dataset& dataset, std::uint64_t seed) {
  check_labels(dataset);
  std::vector<std::vector<NodeId>> classes = shuffled_classes(dataset, seed);
  Split split;
  if (room_for_planetoid(classes)) {
    std::vector<NodeId> others;
    for (auto& members : classes) {
      move_last(members, train_of_class, split.train);
      move_last(members, members.size(), others);
    }
    shuffle(others, random_for(seed, Use::split_rest, 0));
    move_last(others, validation_size, split.validation);
    move_last(others, test_size, split.test);
  } else {
    for (auto& members : classes) {
      const std::size_t fifth = members.size() / 5;
      move_last(members, fifth, split.validation);
      move_last(members, fifth, split.test);
      move_last(members, members.size(), split.train);
    }
  }
  for (auto* part : {&split.train, &split.validation, &split.test}) {
    std::sort(part->begin(), part->end());
  }
  if (split.validation.empty()) {
    fail("no class has the 5 labelled nodes that a random split takes; give the data set a split");
  }
  return split;
}

Split choose_split(const Dataset& dataset, std::string_view text) {
  check_labels(dataset);
  constexpr std::string_view random = "random:";
  if (text.starts_with(random)) {
    const auto seed = whole_number(text.substr(random.size()));
    if (!seed) fail("split '{}': expected random:SEED, such as random:1", text);
    return random_split(dataset, *seed);
  }
  const auto index = text == "public" ? std::uint64_t{0} : whole_number(text);
  if (!index) fail("split '{}' is none; expected public, a number, or random:SEED", text);
  if (dataset.splits.empty()) {
    fail("the data set has no split of its own; draw one: random:SEED, such as random:1");
  }
  if (*index >= dataset.splits.size()) {
    fail("split {}: the data set's splits are 0 to {}", *index, dataset.splits.size() - 1);
  }
  return labelled(dataset.splits[*index], dataset);
}

}  // namespace ngf
