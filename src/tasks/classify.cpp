#include "ngf/tasks/classify.hpp"

#include <cmath>
#include <numeric>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "nn/first_layer.hpp"
#include "tasks/batch.hpp"
#include "tasks/costs.hpp"
#include "tasks/node_data.hpp"

namespace ngf {

namespace {

void check_nodes(const std::vector<NodeId>& nodes, const Dataset& dataset, std::string_view part) {
  if (nodes.empty()) fail("the split has no {} nodes", part);
  for (const NodeId u : nodes) {
    if (u >= dataset.graph.nodes()) {
      fail("the split names node {}, and the graph has {}", u, dataset.graph.nodes());
    }
    if (dataset.labels[u] < 0) fail("node {} of the {} nodes has no label", u, part);
  }
}

void check_runs(const std::vector<RunSettings>& runs) {
  for (const RunSettings& run : runs) {
    if (!(run.dropout >= 0 && run.dropout < 1)) {
      fail("dropout is {}; it must be at least 0 and below 1", run.dropout);
    }
    if (!(run.lr > 0) || !std::isfinite(run.lr)) fail("lr is {}; it must be above 0", run.lr);
    if (!(run.weight_decay >= 0) || !std::isfinite(run.weight_decay)) {
      fail("weight decay is {}; it must be at least 0", run.weight_decay);
    }
  }
}

void check(const Dataset& dataset, const Split& split, const ClassifySettings& settings,
           const std::vector<RunSettings>& runs) {
  if (dataset.labels.empty()) fail("the data set has no labels to learn");
  check_nodes(split.train, dataset, "training");
  check_nodes(split.validation, dataset, "validation");
  check_nodes(split.test, dataset, "test");
  check_settings(settings.model);
  check_runs(runs);
  if (settings.epochs == 0) fail("training needs at least one epoch");
  const std::int64_t classes = output_count(dataset);
  if (classes < 2) fail("a data set with one label has nothing to learn");
  if (settings.metric == Metric::auc && classes != 2) {
    fail("AUC is for two classes, and there are {}; take accuracy", classes);
  }
  // A name, and at least one weight with its gradient, two moments and the best so far.
  constexpr std::uint64_t bytes_per_class = sizeof(std::string) + 5 * sizeof(float);
  check_budget(static_cast<std::uint64_t>(classes) * bytes_per_class, settings.memory,
               fmt::format("a network with an output for each label from 0 to {}", classes - 1));
}

// ---- What the runs share ----

/// The task as a network without a graph sees it: the nodes of the split alone, in the order of
/// their numbers before the nodes were partitioned.
tasks::Task without_graph(const tasks::Task& task, const Partition* partition) {
  const auto number = [&](NodeId u) { return partition == nullptr ? u : partition->old_number(u); };
  std::vector<NodeId> nodes;
  for (const auto* const part : {&task.split.train, &task.split.validation, &task.split.test}) {
    nodes.insert(nodes.end(), part->begin(), part->end());
  }
  std::ranges::sort(nodes, {}, number);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  tasks::Task result;
  result.features = tasks::rows_of(task.features, nodes);
  for (const NodeId u : nodes) result.labels.push_back(task.labels[u]);
  const auto renumbered = [&](const std::vector<NodeId>& part) {
    std::vector<NodeId> places;
    places.reserve(part.size());
    for (const NodeId u : part) {
      const auto found = std::ranges::lower_bound(nodes, number(u), {}, number);
      places.push_back(static_cast<NodeId>(found - nodes.begin()));
    }
    return places;
  };
  result.split = {renumbered(task.split.train), renumbered(task.split.validation),
                  renumbered(task.split.test)};
  result.classes = task.classes;
  result.label_names = task.label_names;
  return result;
}

/// A network has the features by row and by column, with dropout and without, and is made of a
/// copy.
constexpr std::uint64_t feature_copies = 5;

/// Throws MemoryExceeded where a run and its H X, which may take as much, do not fit.
void check_run(std::uint64_t bytes, const ClassifySettings& settings) {
  check_budget(2 * bytes, settings.memory, "training one run");
}

tasks::Task make_task(const Dataset& dataset, const Split& split, const ClassifySettings& settings,
                      Progress* progress) {
  // The features, and those of the nodes that count.
  check_budget(2 * tasks::feature_bytes(dataset.features), settings.memory, "the features");
  tasks::Task task;
  task.features = tasks::features_of(dataset, settings.model.normalize_features);
  const std::int64_t classes = output_count(dataset);
  if (settings.model.model != ModelKind::mlp && settings.partition == nullptr) {
    // Known before shells are found.
    const auto [rows, cols] = nn::shape_of(task.features);
    check_run(run_bytes(settings.model, true, static_cast<std::uint64_t>(rows), cols, classes) +
                  feature_copies * tasks::feature_bytes(task.features),
              settings);
  }
  const auto embeddings = model_embeddings(settings.model, dataset, settings.embeddings);
  task.filter = make_in_half(settings.memory, [&](std::uint64_t memory) {
    return LayerFilter(settings.model, dataset.graph,
                       {.storage = settings.storage,
                        .threads = settings.threads,
                        .memory = memory,
                        .partition = settings.partition,
                        .embeddings = embeddings},
                       progress);
  });
  if (task.filter.partition() != nullptr) {
    std::vector<NodeId> own(task.filter.rows());
    std::iota(own.begin(), own.end(), task.filter.partition()->own().begin);
    task.features = tasks::rows_of(task.features, own);
  }
  task.labels = dataset.labels;
  task.split = split;
  task.classes = classes;
  for (std::int64_t c = 0; c < task.classes; ++c) task.label_names.push_back(std::to_string(c));
  return task;
}

/// Trains runs of one kind: all with dropout, or all without. Those share an order of products.
class Group {
 public:
  Group(const tasks::Task& task, const ClassifySettings& settings, bool dropout, std::size_t runs,
        tasks::Told& told)
      : settings_(settings), dropout_(dropout), told_(told), task_(reduced(task)) {
    plan_batches(runs);
  }

  std::size_t batches() const { return batches_; }
  /// Batches that train at the same time, each on a thread of its own: they need not wait for each
  /// other at every step. Where they are fewer than the threads, all threads take one batch.
  int workers() const { return workers_; }

  std::vector<RunResult> train(std::span<const RunSettings> runs) const {
    std::unique_ptr<Network<float>> network = take(runs.size());
    std::vector<RunResult> results = tasks::train_batch(task_, settings_, runs, *network, told_);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(network));
    return results;
  }

 private:
  void plan_batches(std::size_t runs) {
    const auto rows = static_cast<std::uint64_t>(
        std::visit([](const auto& x) { return x.rows(); }, task_.features));
    const std::uint64_t bytes =
        run_bytes(settings_.model, !task_.filter.identity(), rows, feature_count(), task_.classes);
    const std::uint64_t of_features = feature_copies * tasks::feature_bytes(task_.features);
    check_run(bytes + of_features, settings_);
    const std::uint64_t budget = memory_left(settings_.memory) / 2;
    const auto threads = static_cast<std::uint64_t>(thread_count(settings_.threads));
    // Processes that train together do one thing after the other.
    const Partition* const partition = task_.filter.partition();
    const bool apart =
        partition == nullptr && runs >= threads && budget / (bytes + of_features) >= threads;
    workers_ = apart ? static_cast<int>(threads) : 1;
    const std::uint64_t wanted = settings_.batch > 0
                                     ? settings_.batch
                                     : std::clamp<std::uint64_t>(tasks::costs::batch_bytes / bytes,
                                                                 1, tasks::costs::batch_runs);
    const std::uint64_t each = apart ? threads : 1;
    const std::uint64_t fitting = std::max<std::uint64_t>((budget / each - of_features) / bytes, 1);
    memory_for_products_ = share_of_left(settings_.memory, 4 * each);
    const std::uint64_t batch =
        std::min({wanted, fitting, std::max<std::uint64_t>(runs / each, 1)});
    batches_ = (runs + batch - 1) / batch;
    if (partition != nullptr) batches_ = partition->communicator().of_first(batches_);
  }

  /// A network for `runs` runs: one that another batch has left, or a new one.
  std::unique_ptr<Network<float>> take(std::size_t runs) const {
    std::unique_ptr<Network<float>> network;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        network = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (network == nullptr || network->layout().runs() != runs) {
      network.reset();
      network = std::make_unique<Network<float>>(settings_.model, task_.filter, task_.features,
                                                 task_.classes, options(runs));
      tell_plan(*network);
    }
    return network;
  }

  NetworkOptions options(std::size_t runs) const {
    return {.runs = runs,
            .dropout = dropout_,
            .passes = static_cast<double>(settings_.epochs),
            .threads = settings_.threads,
            .memory = memory_for_products_};
  }

  std::int64_t feature_count() const {
    return std::visit([](const auto& x) { return static_cast<std::int64_t>(x.cols()); },
                      task_.features);
  }

  /// Without a graph, or with one that is multiplied once and for all, only nodes that are read
  /// count.
  tasks::Task reduced(const tasks::Task& task) {
    if (task.filter.identity()) return without_graph(task, settings_.partition.get());
    if (settings_.model.model != ModelKind::sgc || dropout_) return task;
    propagated_ = true;
    // H X and its parts.
    const auto [rows, cols] = nn::shape_of(task.features);
    check_budget(
        3 * sizeof(float) * static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols),
        settings_.memory, "H X");
    tasks::Task result = task;
    SignalsOf<float> filtered = nn::filtered(task.filter, task.features);
    if (const Partition* const partition = task.filter.partition())
      filtered = gathered<float>(*partition, filtered);
    result.features = std::move(filtered);
    return without_graph(result, settings_.partition.get());
  }

  void tell_plan(const Network<float>& network) const {
    if (!told_.watch.on_plan) return;
    const FirstLayer order = propagated_ ? FirstLayer::filter_first : network.first_layer();
    ClassifyPlan plan;
    plan.first_layer = order == FirstLayer::plain          ? "X Theta"
                       : order == FirstLayer::filter_first ? "(HX)Theta"
                                                           : "H(X Theta)";
    plan.storage = task_.filter.storage();
    plan.batch = static_cast<std::uint32_t>(network.layout().runs());
    plan.workers = static_cast<std::uint32_t>(workers_);
    plan.epoch_flops = network.flops();
    if (const Shells* const shells = task_.filter.shells()) {
      if (settings_.partition != nullptr) {
        const auto pairs = shells->pairs();
        plan.pairs = std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0});
      }
      plan.bytes = shells->bytes();
    }
    const std::lock_guard lock(told_.mutex);
    told_.watch.on_plan(plan);
  }

  const ClassifySettings& settings_;
  bool dropout_;
  tasks::Told& told_;
  bool propagated_ = false;
  tasks::Task task_;
  std::size_t batches_ = 1;
  int workers_ = 1;
  std::uint64_t memory_for_products_ = 0;  // of H X for one worker, as in NetworkOptions
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Network<float>>> idle_;
};

}  // namespace

std::int64_t output_count(const Dataset& dataset) {
  return std::int64_t{std::ranges::max(dataset.labels)} + 1;
}

std::vector<RunResult> classify(const Dataset& dataset, const Split& split,
                                const ClassifySettings& settings,
                                const std::vector<RunSettings>& runs, const ClassifyWatch& watch) {
  check(dataset, split, settings, runs);
  if (runs.empty()) return {};
  const tasks::Task task = make_task(dataset, split, settings, watch.progress);
  tasks::Told told{.watch = watch, .epochs = std::uint64_t{settings.epochs} * runs.size()};
  std::vector<RunResult> results(runs.size());
  for (const bool dropout : {false, true}) {
    std::vector<std::size_t> places;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if ((runs[r].dropout > 0) == dropout) places.push_back(r);
    }
    if (places.empty()) continue;
    const Group group(task, settings, dropout, places.size(), told);
    parallel_for(group.batches(), group.workers(), [&](std::size_t b) {
      const std::size_t begin = places.size() * b / group.batches();
      const std::size_t end = places.size() * (b + 1) / group.batches();
      std::vector<RunSettings> own;
      for (std::size_t i = begin; i < end; ++i) own.push_back(runs[places[i]]);
      std::vector<RunResult> trained = group.train(own);
      for (std::size_t i = begin; i < end; ++i) {
        results[places[i]] = std::move(trained[i - begin]);
      }
    });
  }
  return results;
}

}  // namespace ngf
