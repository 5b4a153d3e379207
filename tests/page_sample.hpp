#pragma once

#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Numbers in the shape of a results file, made by formulas so that each claim of the paper holds.
/// Nothing was measured.

namespace ngf::test {

using nlohmann::json;

inline json sample_table1(bool stand_in) {
  if (stand_in) {
    return {{{"dataset", "citation"},
             {"nodes", 2000},
             {"features", 500},
             {"classes", 6},
             {"radius", 12},
             {"diameter", 22}}};
  }
  const auto row = [](const char* name, int nodes, int features, int classes, int radius,
                      int diameter) {
    return json{{"dataset", name},    {"nodes", nodes},   {"features", features},
                {"classes", classes}, {"radius", radius}, {"diameter", diameter}};
  };
  return {row("cora", 2708, 1433, 7, 10, 19), row("citeseer", 3327, 3703, 6, 15, 28),
          row("pubmed", 19717, 500, 3, 10, 18)};
}

inline json sample_fig1() {
  json rows;
  for (const char* graph : {"er", "ws"}) {
    for (const char* perturbation : {"create", "destroy", "both"}) {
      for (int K = 2; K <= 10; ++K) {
        const double gf = 0.05 * std::exp(0.45 * (K - 2));
        const double ngf = 0.06 * (1 - std::exp(-0.9 * (K - 1)));
        rows.push_back({{"graph", graph},
                        {"perturbation", perturbation},
                        {"K", K},
                        {"gf", gf},
                        {"ngf", ngf},
                        {"gf_std", gf / 5},
                        {"ngf_std", ngf / 8},
                        {"realisations", 20}});
      }
    }
  }
  return rows;
}

inline json sample_fig2a() {
  json rows;
  const auto add = [&](const char* input, const char* arch, double least, double end) {
    std::vector<double> errors;
    for (int epoch = 1; epoch <= 200; ++epoch) {
      const double fall = std::exp(-epoch / 8.0);
      const double rise = std::max(0, epoch - 70) / 130.0;
      errors.push_back(fall + least + (end - least) * rise);
    }
    rows.push_back({{"settings", "text"},
                    {"input", input},
                    {"arch", arch},
                    {"signals", 20},
                    {"median_error", errors}});
  };
  add("gf", "gf", 0.0125, 0.06);
  add("gf", "ngf", 0.04, 0.08);
  add("gf", "gcn", 0.022, 0.03);
  add("gf", "sgc", 0.05, 0.06);
  add("ngf", "gf", 0.12, 0.15);
  add("ngf", "ngf", 0.058, 0.09);
  add("ngf", "gcn", 0.16, 0.18);
  add("ngf", "sgc", 0.22, 0.25);
  return rows;
}

inline json sample_fig2b() {
  json rows;
  const auto add = [&](const char* input, const char* arch, double base, double slope) {
    for (const double noise : {0.025, 0.05, 0.1, 0.15, 0.2, 0.25}) {
      rows.push_back({{"settings", "text"},
                      {"input", input},
                      {"arch", arch},
                      {"noise_power", noise},
                      {"median_error", base + slope * noise},
                      {"signals", 10}});
    }
  };
  add("gf", "gf", 0.01, 0.4);
  add("gf", "ngf", 0.011, 0.41);
  add("gf", "gcn", 0.05, 0.1);
  add("gf", "sgc", 0.09, 0.1);
  add("ngf", "gf", 0.1, 0.5);
  add("ngf", "ngf", 0.02, 0.45);
  add("ngf", "gcn", 0.07, 0.23);
  add("ngf", "sgc", 0.15, 0.2);
  return rows;
}

inline json accuracy(double mean) {
  return {{"mean", mean}, {"median", mean + 0.1}, {"std", 0.8}, {"runs", 5}, {"hidden", 64}};
}

inline json joined(json row, const json& more) {
  row.update(more);
  return row;
}

inline json sample_fig3a(bool stand_in) {
  json rows;
  const auto add = [&](const char* dataset, double start, double lead) {
    for (int K = 2; K <= 10; ++K) {
      const double share = K == 2 ? 0 : 0.6 + (K - 2) / 20.0;
      rows.push_back(
          joined({{"dataset", dataset}, {"K", K}, {"filter", "gf"}}, accuracy(start - 2 * share)));
      rows.push_back(joined({{"dataset", dataset}, {"K", K}, {"filter", "ngf"}},
                            accuracy(start + 0.2 + lead * share)));
    }
  };
  if (stand_in) {
    add("citation", 70, 4);
    return rows;
  }
  add("cora", 77, 3);
  add("citeseer", 65, 5);
  add("pubmed", 74, 2);
  return rows;
}

inline json sample_fig3b(bool stand_in) {
  json rows;
  const char* const dataset = stand_in ? "citation" : "citeseer";
  for (const int K : {3, 7, 9}) {
    for (const char* perturbation : {"destroy", "both"}) {
      for (int percent = 0; percent <= 20; percent += 4) {
        const auto add = [&](const char* filter, const char* distances, double mean) {
          rows.push_back(joined({{"dataset", dataset},
                                 {"K", K},
                                 {"perturbation", perturbation},
                                 {"percent", percent},
                                 {"filter", filter},
                                 {"distances", distances},
                                 {"graphs", percent == 0 ? 1 : 3},
                                 {"graph_std", percent == 0 ? 0.0 : 0.5}},
                                accuracy(mean)));
        };
        add("gf", "recomputed", 66 - K * 0.4 - 0.25 * percent);
        add("ngf", "recomputed", 66 + K * 0.3 - 0.08 * percent);
        add("ngf", "cached", 66 + K * 0.3);
      }
    }
  }
  return rows;
}

inline json sample_claims(bool stand_in) {
  json claims;
  for (const char* graph : {"er", "ws"}) {
    for (int k = 0; k <= 10; ++k) {
      claims["norms"].push_back({{"graph", graph},
                                 {"k", k},
                                 {"power", std::pow(6.0, k)},
                                 {"shell", k > 8 ? 0.0 : 60 * std::exp(-(k - 4) * (k - 4) / 6.0)}});
    }
    for (int K = 2; K <= 10; ++K) {
      for (const char* taps : {"positive", "mixed"}) {
        claims["float_error"].push_back(
            {{"graph", graph}, {"taps", taps}, {"K", K}, {"gf", 3e-8 * K}, {"ngf", 4e-8}});
      }
      claims["condition"].push_back(
          {{"graph", graph}, {"K", K}, {"gf", std::pow(10.0, K)}, {"ngf", 1.5}});
    }
    for (const char* perturbation : {"create", "destroy", "both"}) {
      for (int k = 1; k <= 6; ++k) {
        claims["shell_change"].push_back(
            {{"graph", graph}, {"perturbation", perturbation}, {"k", k}, {"change", 0.3 / k}});
      }
    }
    claims["constant_taps"].push_back(
        {{"graph", graph}, {"K", 12}, {"diameter", 9}, {"diameter_after", 10}, {"error", 0.0}});
    claims["constant_taps"].push_back(
        {{"graph", graph}, {"K", 4}, {"diameter", 9}, {"diameter_after", nullptr}, {"error", 0.2}});
  }
  for (const char* dataset : {stand_in ? "citation" : "cora", "sbm"}) {
    for (const int layers : {2, 4, 8, 16}) {
      const auto add = [&](const char* filter, double mean, double gradient) {
        claims["depth"].push_back(joined({{"dataset", dataset},
                                          {"layers", layers},
                                          {"filter", filter},
                                          {"gradient_norm", gradient}},
                                         accuracy(mean)));
      };
      add("gf", 78 - 3 * layers, std::pow(10.0, -layers / 2));
      add("ngf", 79 - 0.2 * layers, std::pow(10.0, -layers / 8));
    }
  }
  return claims;
}

inline json sample_results(bool stand_in = false) {
  return {{"settings", "text"},
          {"seed", 1},
          {"size", "quick"},
          {"stand_in", stand_in},
          {"table1", sample_table1(stand_in)},
          {"fig1", sample_fig1()},
          {"fig2a", sample_fig2a()},
          {"fig2b", sample_fig2b()},
          {"fig3a", sample_fig3a(stand_in)},
          {"fig3b", sample_fig3b(stand_in)},
          {"claims", sample_claims(stand_in)}};
}

inline json sample_provenance() {
  json figures;
  double seconds = 1.5;
  for (const char* name : {"table1", "fig1", "fig2a", "fig2b", "fig3a", "fig3b", "claims"}) {
    figures[name] = {{"seconds", seconds}, {"cells", 12}, {"estimate_seconds", seconds * 1.1}};
    seconds *= 1.7;
  }
  figures["fig2a"]["product_fraction"] = 0.51;
  return {{"version", "0.0.0-sample"},
          {"target", "AVX2"},
          {"threads", 2},
          {"machine", "A machine made up for tests <&>"},
          {"seed", 1},
          {"settings", "text"},
          {"figures", figures}};
}

}  // namespace ngf::test
