// What the paper says of node classification: Table 1, Figures 3a and 3b, and its claims on depth.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "report/verdict_rules.hpp"

namespace ngf::report {

using nlohmann::json;

namespace {

// Accuracies differ when they are more than so many points apart.
constexpr double points_apart = 1;
// An accuracy is about constant within so many points, and has fallen beyond.
constexpr double about_constant = 2;
// A depth that is no limit costs at most so many points.
constexpr double depth_costs = 5;
// A gradient that explodes or vanishes is so many powers of ten from where it was.
constexpr double explodes_by = 2;

/// The verdicts, none of which is better than partly where no data set is the paper's.
std::vector<Verdict> limit_stand_in(
    const json& results, std::vector<Verdict> verdicts,
    const std::string& reason =
        "Measured on a synthetic citation network that stands in for the "
        "paper's data sets, so it cannot count as reproduced.") {
  if (!results.value("stand_in", false)) return verdicts;
  for (Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::reproduced) verdict.outcome = Outcome::partly;
    verdict.remark += (verdict.remark.empty() ? "" : " ") + reason;
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

std::vector<Verdict> judge_table1(const json& results) {
  const Rows rows(results, "table1");
  if (rows.empty()) return {};
  Claim sizes("The data sets have the nodes, features and classes of the table.",
              "Nodes, features and classes");
  Claim distances("The largest components have the radius and the diameter of the table.",
                  "Radius and diameter");
  for (const PaperDataset& paper : paper_datasets()) {
    const std::string name = spoken(paper.name);
    const Rows ours = rows.where("dataset", paper.name);
    if (ours.empty()) {
      sizes.add(false, name + " is not here");
      distances.add(false, name + " is not here");
      continue;
    }
    const auto ours_is = [&](const char* key, int value) { return ours.first(key) == value; };
    sizes.add(ours_is("nodes", paper.nodes) && ours_is("features", paper.features) &&
                  ours_is("classes", paper.classes),
              fmt::format("{}: {}, {}, {}", name, ours.first("nodes"), ours.first("features"),
                          ours.first("classes")));
    distances.add(ours_is("radius", paper.radius) && ours_is("diameter", paper.diameter),
                  fmt::format("{}: {}, {}", name, ours.first("radius"), ours.first("diameter")));
  }
  return limit_stand_in(
      results, decide("table1", {sizes, distances}),
      "The synthetic citation network that stands in is no row of the paper's table.");
}

std::vector<Verdict> judge_fig3a(const json& results) {
  Claim equal("With K = 2 both networks are the same.",
              fmt::format("NGCNN's accuracy in percent against GCNN's, which should be within {} "
                          "point",
                          points_apart));
  Claim above(
      "With many taps NGCNN is more accurate than GCNN.",
      fmt::format("NGCNN's accuracy in percent against GCNN's, which should be more than {} "
                  "point lower",
                  points_apart));
  Claim improves("NGCNN improves as K grows.",
                 fmt::format("Its accuracy in percent at the smallest and at the largest K, which "
                             "should be more than {} point higher",
                             points_apart));
  Claim slower("GCNN deteriorates as K grows, or improves more slowly than NGCNN.",
               fmt::format("GCNN's change in points against NGCNN's, which should be more than {} "
                           "higher",
                           points_apart));
  std::vector<std::pair<std::string, double>> gaps;
  for_each_dataset(
      Rows(results, "fig3a"), "K", [&](const auto& name, const auto& gf, const auto& ngf) {
        if (gf.x.front() == 2) {
          equal.add(std::abs(gf.y.front() - ngf.y.front()) <= points_apart,
                    name + ": " + against(ngf.y.front(), gf.y.front()));
        }
        const double gap = ngf.y.back() - gf.y.back();
        above.add(gap > points_apart, fmt::format("{}, K = {}: {}", name, ngf.x.back(),
                                                  against(ngf.y.back(), gf.y.back())));
        improves.add(change(ngf) > points_apart, name + ": " + points(ngf));
        slower.add(change(ngf) - change(gf) > points_apart,
                   fmt::format("{}: {:+.1f} against {:+.1f}", name, change(gf), change(ngf)));
        gaps.emplace_back(name, gap);
      });
  Claim clearest("The difference is clearest on Citeseer, the graph with the largest diameter.",
                 "NGCNN's lead on Citeseer at the largest K");
  const auto largest = std::max_element(
      gaps.begin(), gaps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [name, gap] : gaps) {
    if (name == spoken("citeseer") && gaps.size() >= 2) {
      clearest.add(gap >= largest->second, fmt::format("{:.1f} points; the largest, on {}: {:.1f}",
                                                       gap, largest->first, largest->second));
    }
  }
  return limit_stand_in(results, decide("fig3a", {equal, above, improves, slower, clearest}));
}

std::vector<Verdict> judge_fig3b(const json& results) {
  Claim above("NGCNN is more accurate than GCNN in all tested settings.",
              "Amounts of perturbation at which NGCNN is ahead, distances of the perturbed graph");
  Claim constant(
      "NGCNN's accuracy stays about constant however the graph is perturbed.",
      fmt::format("NGCNN's accuracy in percent without perturbation and with the most, distances "
                  "of the perturbed graph, which should be within {} points",
                  about_constant));
  Claim falls("GCNN's accuracy falls as the graph is perturbed.",
              fmt::format("GCNN's accuracy in percent without perturbation and with the most, "
                          "which should be more than {} points lower",
                          about_constant));
  Claim robust("NGCNN is more robust to perturbation than GCNN.",
               "NGCNN's change in points against GCNN's from no perturbation to the most, "
               "distances of the perturbed graph");
  std::string stale_text;
  for (const auto& [names, part] : Rows(results, "fig3b").split({"dataset", "K", "perturbation"})) {
    const std::string name = fmt::format("K = {}, {}", names[1], spoken(names[2]));
    const Rows neighborhood = part.where("filter", "ngf");
    const Curve gf =
        part.where("filter", "gf").where("distances", "honest").curve("percent", "mean");
    const Curve ngf = neighborhood.where("distances", "honest").curve("percent", "mean");
    const Curve stale = neighborhood.where("distances", "stale").curve("percent", "mean");
    if (gf.x.size() < 2 || gf.x != ngf.x) continue;
    const std::size_t higher = places_below(gf, ngf);
    above.add(higher == gf.x.size(), fmt::format("{}: in {} of {}", name, higher, gf.x.size()));
    constant.add(std::abs(change(ngf)) <= about_constant, name + ": " + points(ngf));
    falls.add(change(gf) < -about_constant, name + ": " + points(gf));
    robust.add(change(ngf) > change(gf),
               fmt::format("{}: {:+.1f} against {:+.1f}", name, change(ngf), change(gf)));
    if (stale.x.size() >= 2) {
      stale_text += fmt::format("{}{}: {}", stale_text.empty() ? "" : "; ", name, points(stale));
    }
  }
  std::vector<Verdict> verdicts = decide("fig3b", {above, constant, falls, robust});
  if (!verdicts.empty() && !stale_text.empty()) {
    verdicts.at(1).remark = "With stale distances, those of the first graph: " + stale_text + ".";
  }
  return limit_stand_in(results, std::move(verdicts));
}

std::vector<Verdict> judge_depth(const json& results) {
  const Rows rows(results, "claims_depth");
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
  return decide("claims_depth", {above, unlimited, gradients[0], gradients[1]});
}

}  // namespace ngf::report
