#include "suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "common.hpp"

namespace ngf::cli {

namespace {

/// Damerau-Levenshtein distance (optimal string alignment): the number of letters inserted,
/// deleted, replaced, or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::vector<std::size_t>, 3>
      rows;  // of the prefixes of a with i - 2, i - 1, i letters
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[2][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    rows[2][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = rows[1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[2][j] = std::min({replaced, rows[1][j] + 1, rows[2][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[2][j] = std::min(rows[2][j], rows[0][j - 2] + 1);
      }
    }
  }
  return rows[2][b.size()];
}

/// The name at the smallest distance; empty where more than a third of the letters differ.
std::string nearest(std::string_view typed, const std::vector<std::string>& names) {
  std::string result;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    if (distance >= smallest || 3 * distance > std::max(typed.size(), name.size())) continue;
    smallest = distance;
    result = name;
  }
  return result;
}

std::vector<std::string> flags_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : verb.get_options()) {
    const auto& own = option->get_lnames();
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

std::vector<std::string> verbs_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* const known : verb.get_subcommands(nullptr)) {
    names.push_back(known->get_name());
  }
  return names;
}

}  // namespace

std::string suggest(const CLI::App& program, const CLI::App& verb) {
  const std::vector<std::string> verbs = verbs_of(verb);
  for (const std::string& typed : program.remaining(true)) {
    if (typed.starts_with("--")) {
      const std::string flag = typed.substr(2, typed.find('=') - 2);
      const std::string known = nearest(flag, flags_of(verb));
      if (!known.empty()) {
        return fmt::format("--{}: no such flag; did you mean --{}?", one_line(flag), known);
      }
    } else if (!verbs.empty()) {
      const std::string known = nearest(typed, verbs);
      if (!known.empty()) {
        return fmt::format("{}: no such verb; did you mean {}?", one_line(typed), known);
      }
      return {};  // the flags belong to an unknown verb
    }
  }
  return {};
}

}  // namespace ngf::cli
