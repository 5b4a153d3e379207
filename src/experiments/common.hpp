#pragma once

#include <array>
#include <nlohmann/json.hpp>

#include "experiments/costs.hpp"
#include "ngf/experiments.hpp"
#include "ngf/perturb.hpp"
#include "ngf/summary.hpp"
#include "ngf/tasks/classify.hpp"
#include "ngf/tasks/robustness.hpp"

/// What several figures need.
namespace ngf::experiments {

/// Rows keep their keys in the order in which they are written.
using Row = nlohmann::ordered_json;

/// Of two sizes the one that the study asks for.
template <typename Value>
Value sized(const Study& study, Value quick, Value full) {
  return study.size == Size::quick ? quick : full;
}

std::string_view size_name(Size size);

/// The data set of that name, or what stands in for it.
const NamedDataset& dataset_named(const Study& study, std::string_view name);

/// A seed of its own for item `item` of a figure, so that no two share random numbers. `figure` is
/// any number below 1000.
std::uint64_t seed_of(const Study& study, std::uint64_t figure, std::uint64_t item);

// ---- Small graphs, of figure 1 and the claims ----

inline constexpr std::array<std::string_view, 2> small_graphs{"er", "ws"};
inline constexpr NodeId small_graph_nodes = 100;
/// Erdős–Rényi with p = 0.1, or a small world of 4 neighbours and rewiring 0.1: the first draw that
/// is connected.
Graph small_graph(std::string_view kind, std::uint64_t seed);
bool is_connected(const Graph& graph);
/// Taps uniform in [0, 1]. Fewer of the same seed are the first of more.
std::vector<double> uniform_taps(std::size_t count, std::uint64_t seed);

inline constexpr std::array<std::string_view, 3> perturbations{"create", "destroy", "both"};
/// `percent` of the edges created, destroyed, or both.
PerturbOptions perturbation(std::string_view kind, double percent, std::uint64_t seed);

/// How many graphs, taps and perturbations a mean is taken over.
int realisations_of(const Study& study);
/// What a perturbation of 10 % does to the filters of one small graph, all drawn by the seed. On
/// one thread.
Robustness measure_realisation(std::string_view graph, std::string_view kind, std::size_t taps,
                               std::uint64_t seed);
/// Calls body(r) for all realisations, on all threads.
void for_each_realisation(const Study& study, Progress* progress,
                          const std::function<void(std::size_t)>& body);

// ---- Denoising, of figures 2a and 2b ----

inline constexpr std::array<SignalKind, 2> inputs{SignalKind::gf, SignalKind::ngf};
inline constexpr std::array<DenoiseArch, 4> architectures{DenoiseArch::gf, DenoiseArch::ngf,
                                                          DenoiseArch::gcn, DenoiseArch::sgc};
std::string_view input_name(SignalKind kind);
/// The settings of a test case's fit, with `epochs` epochs.
DenoiseSettings fit_for(const Study& study, DenoiseSettings of_case, std::uint32_t epochs);
/// Sets the number of products that fits to `signals` signals need, and their estimated time.
void count_products(Cell& cell, const Graph& graph, const DenoiseSettings& fit,
                    std::size_t signals);

// ---- Node classification, of figures 3a and 3b and the claim on depth ----

inline constexpr std::array<ModelKind, 2> networks{ModelKind::gcnn, ModelKind::ngcnn};
/// Networks for each point of a figure of accuracies: what was asked for, otherwise few or `full`.
std::size_t runs_a_point(const Study& study, std::size_t full);
std::string_view filter_name(ModelKind model);
/// The paper's test case 3 with K taps.
ClassifySettings paper_training(const Study& study, ModelKind model, std::uint32_t taps);
/// A rough estimate of the time of `runs` runs.
double training_seconds(const Dataset& dataset, const ClassifySettings& settings, std::size_t runs);
std::vector<RunResult> train(const Dataset& dataset, const ClassifySettings& settings,
                             std::size_t count, Progress* progress);
/// Mean, median and standard deviation in percent, and the number of runs, appended to a row.
void add_accuracy(Row& row, const std::vector<RunResult>& runs);

}  // namespace ngf::experiments
