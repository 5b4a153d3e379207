// What the paper says of node classification: Table 1, Figures 3a and 3b, and its claims on depth.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "report/verdict_rules.hpp"

namespace ngf::report {

using nlohmann::json;

namespace {

// Accuracies differ when they are more than this number of points apart.
constexpr double points_apart = 1;
// An accuracy is about constant within this number of points, and has fallen beyond.
constexpr double about_constant = 2;
// A depth that is no limit costs at most this number of points.
constexpr double depth_costs = 5;
// A gradient that explodes or vanishes differs by at least this number of powers of ten.
constexpr double explodes_by = 2;

/// Rows on what the paper was measured on, and on our own graphs: a network that stands in for a
/// data set tries no claim.
Rows tried_rows(const json& results, const std::string& table) {
  return Rows(results, table).without("dataset", "citation");
}

/// Says which data sets of the paper a figure was run without; what holds on the others alone is
/// reproduced in part.
std::vector<Verdict> name_missing(const json& results, const std::string& table,
                                  const std::vector<std::string>& needed,
                                  std::vector<Verdict> verdicts) {
  const Rows rows(results, table);
  std::vector<std::string> missing;
  for (const std::string& name : needed) {
    if (rows.where("dataset", name).empty()) missing.push_back(spoken(name));
  }
  if (rows.empty() || missing.empty()) return verdicts;
  for (Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::reproduced) verdict.outcome = Outcome::partly;
    verdict.remark += fmt::format("{}Not tested on {}: the data was not found.",
                                  verdict.remark.empty() ? "" : " ", fmt::join(missing, ", "));
  }
  return verdicts;
}

/// Calls take(data set, accuracies of GCNN, accuracies of NGCNN) where both have two points or
/// more.
template <typename Take>
void for_each_dataset(const Rows& rows, const std::string& x, const Take& take) {
  for (const auto& [names, part] : rows.split({"dataset"})) {
    const Curve gf = part.where("filter", "gf").curve(x, "mean");
    const Curve ngf = part.where("filter", "ngf").curve(x, "mean");
    if (gf.x.size() >= 2 && gf.x == ngf.x) take(spoken(names[0]), gf, ngf);
  }
}

double change(const Curve& curve) { return curve.y.back() - curve.y.front(); }

std::string against(double first, double second) {
  return fmt::format("{:.1f} against {:.1f}", first, second);
}

std::string points(const Curve& curve) {
  return fmt::format("{:.1f} to {:.1f}", curve.y.front(), curve.y.back());
}

/// What a curve has won over its first point, at each later one.
std::vector<double> gains(const Curve& curve) {
  std::vector<double> result;
  for (const double value : curve.y) result.push_back(value - curve.y.front());
  result.erase(result.begin());
  return result;
}

std::vector<double> minus(std::vector<double> values, const std::vector<double>& others) {
  std::ranges::transform(values, others, values.begin(), std::minus<>());
  return values;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Leads in points, one for each K above the smallest.
void add_leads(Claim& claim, const std::string& name, const std::vector<double>& leads) {
  const auto held = static_cast<std::size_t>(
      std::ranges::count_if(leads, [](double lead) { return lead > points_apart; }));
  claim.add(held, leads.size(),
            fmt::format("{}: at {} of {} K; {:+.1f} on average", name, held, leads.size(),
                        mean_of(leads)));
}

/// How many powers of ten a gradient's norm moves from the shallowest network to the deepest;
/// without an end where it is no number there.
double powers_of_ten(const Rows& rows) {
  const std::vector<double> norms = rows.numbers("gradient_norm", "layers");
  const double moved = std::abs(std::log10(norms.back() / norms.front()));
  return std::isnan(moved) ? std::numeric_limits<double>::infinity() : moved;
}

std::string moved_text(double powers) {
  return std::isfinite(powers) ? fmt::format("{:.1f}", powers) : std::string("beyond all numbers");
}

std::vector<Claim> on_gradients(const Rows& rows) {
  Claim explode("In deep networks with polynomial filters gradients explode or vanish.",
                fmt::format("Powers of ten between GCNN's gradients in the shallowest and the "
                            "deepest network, which should be {} or more",
                            explodes_by));
  Claim calmer("Neighbourhood filters keep gradients calmer.",
               "Powers of ten between NGCNN's gradients in the shallowest and the deepest network, "
               "against GCNN's");
  for (const auto& [names, part] : rows.split({"dataset"})) {
    const Rows gf = part.where("filter", "gf");
    const Rows ngf = part.where("filter", "ngf");
    if (gf.all().size() < 2 || ngf.all().size() < 2) continue;
    const double gf_moved = powers_of_ten(gf);
    const double ngf_moved = powers_of_ten(ngf);
    const std::string name = spoken(names[0]);
    explode.add(gf_moved >= explodes_by, name + ": " + moved_text(gf_moved));
    calmer.add(ngf_moved < gf_moved,
               fmt::format("{}: {} against {}", name, moved_text(ngf_moved), moved_text(gf_moved)));
  }
  return {explode, calmer};
}

}  // namespace

const std::vector<PaperDataset>& paper_datasets() {
  static const std::vector<PaperDataset> datasets{{"cora", 2708, 1433, 7, 10, 19},
                                                  {"citeseer", 3327, 3703, 6, 15, 28},
                                                  {"pubmed", 19717, 500, 3, 10, 18}};
  return datasets;
}

namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const PaperDataset& paper : paper_datasets()) names.emplace_back(paper.name);
  return names;
}

}  // namespace

std::vector<Verdict> judge_table1(const json& results) {
  const Rows rows(results, "table1");
  Claim sizes("The data sets have the nodes, features and classes of the table.",
              "Nodes, features and classes");
  Claim distances("The largest components have the radius and the diameter of the table.",
                  "Radius and diameter");
  for (const PaperDataset& paper : paper_datasets()) {
    const std::string name = spoken(paper.name);
    const Rows ours = rows.where("dataset", paper.name);
    if (ours.empty()) continue;
    const auto ours_is = [&](const char* key, int value) { return ours.first(key) == value; };
    sizes.add(ours_is("nodes", paper.nodes) && ours_is("features", paper.features) &&
                  ours_is("classes", paper.classes),
              fmt::format("{}: {}, {}, {}", name, ours.first("nodes"), ours.first("features"),
                          ours.first("classes")));
    distances.add(ours_is("radius", paper.radius) && ours_is("diameter", paper.diameter),
                  fmt::format("{}: {}, {}", name, ours.first("radius"), ours.first("diameter")));
  }
  return name_missing(results, "table1", all_names(), decide("table1", {sizes, distances}));
}

std::vector<Verdict> judge_fig3a(const json& results) {
  Claim equal("With K = 2 both networks are the same.",
              fmt::format("NGCNN's accuracy in percent against GCNN's, which should be within {} "
                          "point",
                          points_apart));
  const std::string should = fmt::format("should be more than {} at each", points_apart);
  Claim above("With many taps NGCNN is more accurate than GCNN.",
              "NGCNN's lead over GCNN in points at each K above the smallest, which " + should);
  Claim improves("NGCNN improves as K grows.",
                 "What it gains over the smallest K in points at each larger one, which " + should);
  Claim slower(
      "GCNN deteriorates as K grows, or improves more slowly than NGCNN.",
      "What NGCNN gains more than GCNN in points at each K above the smallest, which " + should);
  std::vector<std::pair<std::string, double>> gaps;
  for_each_dataset(tried_rows(results, "fig3a"), "K",
                   [&](const auto& name, const auto& gf, const auto& ngf) {
                     if (gf.x.front() == 2) {
                       equal.add(std::abs(gf.y.front() - ngf.y.front()) <= points_apart,
                                 name + ": " + against(ngf.y.front(), gf.y.front()));
                     }
                     std::vector<double> leads = minus(ngf.y, gf.y);
                     leads.erase(leads.begin());
                     add_leads(above, name, leads);
                     add_leads(improves, name, gains(ngf));
                     add_leads(slower, name, minus(gains(ngf), gains(gf)));
                     gaps.emplace_back(name, mean_of(leads));
                   });
  Claim clearest("The difference is clearest on Citeseer, the graph with the largest diameter.",
                 "NGCNN's lead on Citeseer, on average over all K above the smallest");
  const auto largest = std::max_element(
      gaps.begin(), gaps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [name, gap] : gaps) {
    if (name == spoken("citeseer") && gaps.size() >= 2) {
      clearest.add(gap >= largest->second, fmt::format("{:.1f} points; the largest, on {}: {:.1f}",
                                                       gap, largest->first, largest->second));
    }
  }
  return name_missing(results, "fig3a", all_names(),
                      decide("fig3a", {equal, above, improves, slower, clearest}));
}

std::vector<Verdict> judge_fig3b(const json& results) {
  Claim above("NGCNN is more accurate than GCNN in all tested settings.",
              "Amounts of perturbation at which NGCNN is ahead, distances of the perturbed graph");
  Claim constant(
      "NGCNN's accuracy stays about constant however the graph is perturbed.",
      fmt::format("Amounts of perturbation at which its accuracy is within {} points of that "
                  "without, distances of the perturbed graph; without and with the most",
                  about_constant));
  Claim falls("GCNN's accuracy falls as the graph is perturbed.",
              fmt::format("GCNN's accuracy in percent without perturbation and with the most, "
                          "which should be more than {} points lower",
                          about_constant));
  Claim robust("NGCNN is more robust to perturbation than GCNN.",
               "Amounts of perturbation at which it loses less, distances of the perturbed graph; "
               "NGCNN's change in points against GCNN's with the most");
  std::string cached_text;
  for (const auto& [names, part] :
       tried_rows(results, "fig3b").split({"dataset", "K", "perturbation"})) {
    const std::string name = fmt::format("K = {}, {}", names[1], spoken(names[2]));
    const Rows neighborhood = part.where("filter", "ngf");
    const Curve gf =
        part.where("filter", "gf").where("distances", "recomputed").curve("percent", "mean");
    const Curve ngf = neighborhood.where("distances", "recomputed").curve("percent", "mean");
    const Curve cached = neighborhood.where("distances", "cached").curve("percent", "mean");
    if (gf.x.size() < 2 || gf.x != ngf.x) continue;
    const std::size_t higher = places_below(gf, ngf);
    above.add(higher, gf.x.size(), fmt::format("{}: in {} of {}", name, higher, gf.x.size()));
    const std::vector<double> own = gains(ngf);
    const auto level = static_cast<std::size_t>(
        std::ranges::count_if(own, [](double gain) { return std::abs(gain) <= about_constant; }));
    constant.add(level, own.size(),
                 fmt::format("{}: in {} of {}; {}", name, level, own.size(), points(ngf)));
    falls.add(change(gf) < -about_constant, name + ": " + points(gf));
    const std::vector<double> leads = minus(own, gains(gf));
    const auto ahead = static_cast<std::size_t>(
        std::ranges::count_if(leads, [](double lead) { return lead > 0; }));
    robust.add(ahead, leads.size(),
               fmt::format("{}: in {} of {}; {:+.1f} against {:+.1f}", name, ahead, leads.size(),
                           change(ngf), change(gf)));
    if (cached.x.size() >= 2) {
      cached_text += fmt::format("{}{}: {}", cached_text.empty() ? "" : "; ", name, points(cached));
    }
  }
  std::vector<Verdict> verdicts = decide("fig3b", {above, constant, falls, robust});
  if (!cached_text.empty()) {
    verdicts.at(1).remark =
        "With cached distances, those of the unperturbed graph: " + cached_text + ".";
  }
  return name_missing(results, "fig3b", {"citeseer"}, std::move(verdicts));
}

std::vector<Verdict> judge_depth(const json& results) {
  const Rows rows = tried_rows(results, "claims_depth");
  Claim above(
      "Neighbourhood filters allow deeper networks.",
      fmt::format("NGCNN's accuracy in percent against GCNN's in the deepest network, which "
                  "should be more than {} point lower",
                  points_apart));
  Claim unlimited("With neighbourhood filters depth is no limiting factor.",
                  fmt::format("NGCNN's accuracy in percent in the shallowest and in the deepest "
                              "network, which should lose at most {} points",
                              depth_costs));
  for_each_dataset(rows, "layers", [&](const auto& name, const auto& gf, const auto& ngf) {
    above.add(
        ngf.y.back() - gf.y.back() > points_apart,
        fmt::format("{}, {} layers: {}", name, ngf.x.back(), against(ngf.y.back(), gf.y.back())));
    unlimited.add(change(ngf) >= -depth_costs, name + ": " + points(ngf));
  });
  const std::vector<Claim> gradients = on_gradients(rows);
  return name_missing(results, "claims_depth", {"cora"},
                      decide("claims_depth", {above, unlimited, gradients[0], gradients[1]}));
}

}  // namespace ngf::report
