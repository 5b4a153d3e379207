#include <algorithm>
#include <array>

#include "base/fail.hpp"
#include "ngf/experiments.hpp"

namespace ngf::experiments {

namespace {

struct Entry {
  std::string_view name;
  bool datasets;
  Figure (*make)(const Study&);
};

constexpr std::array entries{Entry{"table1", true, table1}, Entry{"fig1", false, fig1},
                             Entry{"fig2a", false, fig2a},  Entry{"fig2b", false, fig2b},
                             Entry{"fig3a", true, fig3a},   Entry{"fig3b", true, fig3b},
                             Entry{"claims", true, claims}};

const Entry& entry_of(std::string_view name) {
  const auto* const found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  if (found == entries.end()) fail("no figure '{}'", name);
  return *found;
}

}  // namespace

const std::vector<std::string>& figure_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Entry& entry : entries) result.emplace_back(entry.name);
    return result;
  }();
  return names;
}

bool needs_datasets(std::string_view figure) { return entry_of(figure).datasets; }

Figure make_figure(std::string_view name, const Study& study) {
  const Entry& entry = entry_of(name);
  if (entry.datasets && study.datasets.empty()) fail("{} needs a data set", name);
  return entry.make(study);
}

}  // namespace ngf::experiments
