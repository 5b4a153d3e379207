#include "ngf/tasks/tune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "ngf/random.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using test::error_of;

TuneGrid small_grid() {
  TuneGrid grid;
  grid.hops = {1, 2};
  grid.residual_layers = {1, 2};
  grid.normalize_features = {true};
  grid.dropouts = {0.0, 0.5};
  grid.weight_decays = {5e-4};
  return grid;
}

ClassifySettings quick(int threads = 1) {
  ClassifySettings settings;
  settings.model.hidden = 8;
  settings.epochs = 12;
  settings.threads = threads;
  return settings;
}

/// A data set with two splits.
Dataset some_dataset() {
  Dataset dataset = citation_network(200, 3);
  Split other;
  for (NodeId u = 0; u < dataset.graph.nodes(); ++u) {
    (u % 4 == 0 ? other.train : u % 4 == 1 ? other.validation : other.test).push_back(u);
  }
  dataset.splits = {other, {other.validation, other.train, other.test}};
  return dataset;
}

TuneTask task_of(const Dataset& dataset, int threads = 1) {
  return {.name = "some",
          .dataset = &dataset,
          .splits = dataset.splits,
          .candidates = tune_candidates(quick(threads), small_grid())};
}

std::vector<TuneRow> rows_of(const TuneTask& task) {
  TuneJob job(task);
  job.search({});
  return job.rows();
}

void expect_same(const std::vector<TuneRow>& a, const std::vector<TuneRow>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].candidate, b[i].candidate);
    EXPECT_EQ(a[i].validation, b[i].validation);
    EXPECT_EQ(a[i].rung, b[i].rung);
  }
}

TEST(Tune, CandidatesAreTheCombinationsOfTheGrid) {
  // Taps, banks and jumps of 2 x 2 hops and normalisations, residual blocks of two depths.
  EXPECT_EQ(tune_candidates(quick(), small_grid()).size(), (3 + 2) * 2 * 2 * 2U);
  ClassifySettings base = quick();
  base.model.model = ModelKind::mlp;
  EXPECT_EQ(tune_candidates(base, small_grid()).size(), 2U);
  base.model.model = ModelKind::gcnn;
  TuneGrid grid = small_grid();
  grid.blocks.clear();
  grid.shifts = {Shift::laplacian};
  for (const ClassifySettings& candidate : tune_candidates(base, grid)) {
    EXPECT_FALSE(candidate.model.bank);
    EXPECT_EQ(candidate.model.shift, Shift::laplacian);
  }
  grid.dropouts.clear();
  EXPECT_EQ(error_of<Error>([&] { tune_candidates(base, grid); }),
            "the grid has no candidates; each axis needs a value");
}

TEST(Tune, RungsTrainFewerCandidatesOnMoreSplits) {
  const auto rungs = tune_rungs(540, 300, 10, 59);
  ASSERT_EQ(rungs.size(), 4U);
  for (std::size_t r = 1; r < rungs.size(); ++r) {
    EXPECT_LT(rungs[r].candidates, rungs[r - 1].candidates);
    EXPECT_GE(rungs[r].splits, rungs[r - 1].splits);
    EXPECT_GE(rungs[r].epochs, rungs[r - 1].epochs);
  }
  EXPECT_EQ(rungs.back().epochs, 300U);
  EXPECT_EQ(rungs.back().splits, 10U);
  // Splits with many validation nodes are not all needed at first.
  EXPECT_EQ(tune_rungs(540, 300, 10, 2500).front().splits, 1U);
  EXPECT_EQ(tune_rungs(1, 300, 10, 59).size(), 1U);
}

TEST(Tune, NeverReadsTestLabels) {
  const Dataset dataset = some_dataset();
  Dataset permuted = dataset;
  const std::vector<NodeId>& nodes = dataset.splits[0].test;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    permuted.labels[nodes[i]] = dataset.labels[nodes[(i + 7) % nodes.size()]];
  }
  ASSERT_NE(permuted.labels, dataset.labels);
  expect_same(rows_of(task_of(dataset)), rows_of(task_of(permuted)));
}

TEST(Tune, TheSameOnAnyNumberOfThreads) {
  const Dataset dataset = some_dataset();
  expect_same(rows_of(task_of(dataset, 1)), rows_of(task_of(dataset, 2)));
}

TEST(Tune, TheBestComeFirst) {
  const Dataset dataset = some_dataset();
  const TuneTask task = task_of(dataset);
  const auto rows = rows_of(task);
  std::set<std::size_t> candidates;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    candidates.insert(rows[i].candidate);
    if (i == 0) continue;
    EXPECT_LE(rows[i].rung, rows[i - 1].rung);
    if (rows[i].rung == rows[i - 1].rung) {
      EXPECT_LE(rows[i].validation, rows[i - 1].validation);
    }
  }
  EXPECT_EQ(candidates.size(), task.candidates.size());
}

/// Asks to stop after some reports.
class StopSoon : public Progress {
 public:
  void report(std::uint64_t /*done*/, std::uint64_t /*total*/) override { ++reports_; }
  bool stop_requested() const override { return reports_ > 200; }

 private:
  std::atomic<int> reports_{0};
};

TEST(Tune, GoesOnAfterAnInterrupt) {
  const Dataset dataset = some_dataset();
  const TuneTask task = task_of(dataset);
  const auto path = test::temp_file("search.journal");
  std::filesystem::remove(path);
  {
    TuneJob job(task);
    job.keep_in(path, task.text(), false);
    StopSoon progress;
    ClassifyWatch watch;
    watch.progress = &progress;
    EXPECT_THROW(job.search(watch), Interrupted);
    EXPECT_GT(job.finished(), 0U);
  }
  TuneJob job(task);
  job.keep_in(path, task.text(), true);
  EXPECT_GT(job.finished(), 0U);
  job.search({});
  expect_same(job.rows(), rows_of(task));
}

}  // namespace
}  // namespace ngf
