// Jobs that are cut off and go on: pieces of any kind, and runs of networks.

#include "ngf/tasks/job.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "ngf/tasks/train_job.hpp"
#include "tests/sharding_support.hpp"
#include "tests/support.hpp"

namespace {

using namespace ngf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pointee;

const std::vector<std::string> letters{"a", "b", "c", "d", "e"};

std::filesystem::path place_of_job() {
  auto path = test::temp_file("pieces.journal");
  std::filesystem::remove(path);
  return path;
}

/// "a" becomes "\"a by 0\"".
ComputePiece by_rank(int rank) {
  return [rank](const std::string& key) { return '"' + key + " by " + std::to_string(rank) + '"'; };
}

TEST(Job, GoesOnWithWhatIsMissing) {
  const auto path = place_of_job();
  {
    Job job(letters);
    job.keep_in(path, "settings", false);
    job.compute(std::span(letters).subspan(1, 1), nullptr, by_rank(0));
    job.add("d", "4");
  }
  Job job(letters);
  job.keep_in(path, "settings", true);
  EXPECT_THAT(job.find("b"), Pointee(std::string("\"b by 0\"")));
  EXPECT_THAT(job.find("d"), Pointee(std::string("4")));
  EXPECT_THAT(job.missing(), ElementsAre("a", "c", "e"));
  EXPECT_EQ(job.finished(), 2U);
  job.finish();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Job, LeavesNoJournalOfNothing) {
  const auto path = place_of_job();
  {
    Job job(letters);
    job.keep_in(path, "settings", false);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Job, PiecesOfAnotherJobDoNotCount) {
  const auto path = place_of_job();
  {
    Job job(letters);
    job.keep_in(path, "settings", false);
    for (const std::string& key : letters) job.add(key, "1");
  }
  Job fewer({"b", "z"});
  fewer.keep_in(path, "settings", true);
  EXPECT_THAT(fewer.missing(), ElementsAre("z"));
  EXPECT_EQ(fewer.finished(), 1U);
}

TEST(Job, RanksShareThePieces) {
  constexpr int ranks = 3;
  test::run_team(ranks, [&](const std::shared_ptr<Communicator>& team) {
    if (team->rank() > 0) {
      help_with_pieces(*team, by_rank(team->rank()));
      return;
    }
    Job job(letters);
    job.compute(std::span(letters).first(3), team.get(), by_rank(0));
    job.compute(std::span(letters).last(2), team.get(), by_rank(0));
    dismiss_helpers(*team);
    EXPECT_THAT(job.missing(), IsEmpty());
    EXPECT_THAT(job.find("c"), Pointee(std::string("\"c by 2\"")));
    EXPECT_THAT(job.find("e"), Pointee(std::string("\"e by 1\"")));
  });
}

TEST(Job, RanksGetWhatTheFirstHasFound) {
  test::run_team(2, [&](const std::shared_ptr<Communicator>& team) {
    Job job(letters);
    if (team->rank() == 0) job.add("b", "[1]");
    job.share(*team);
    EXPECT_THAT(job.missing(), ElementsAre("a", "c", "d", "e"));
    EXPECT_THAT(job.find("b"), Pointee(std::string("[1]")));
  });
}

// ---- Networks ----

constexpr std::size_t count = 5;

TrainTask task_on(const Dataset& dataset) {
  TrainTask task{.name = "citation",
                 .dataset = &dataset,
                 .split = dataset.splits.at(0),
                 .settings = recipe("strong")};
  task.settings.model.hidden = 8;
  task.settings.model.learn_taps = true;
  task.settings.epochs = 6;
  task.settings.batch = 1;
  task.settings.threads = 1;
  return task;
}

/// Asks to stop when so many epochs are done.
class Impatience : public Progress {
 public:
  explicit Impatience(std::uint64_t most) : most_(most) {}
  void report(std::uint64_t done, std::uint64_t total) override {
    done_ = done;
    total_ = total;
  }
  bool stop_requested() const override { return done_ >= most_; }
  std::uint64_t total() const { return total_; }

 private:
  std::uint64_t most_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

TEST(TrainJob, TrainsOnlyTheMissingRuns) {
  const Dataset dataset = citation_network(150, 1);
  const TrainTask task = task_on(dataset);
  TrainJob whole(task, count);
  whole.train({});
  const auto path = place_of_job();
  {
    TrainJob cut(task, count);
    cut.keep_in(path, task.text(), true);
    Impatience progress(3 * task.settings.epochs);
    ClassifyWatch watch;
    watch.progress = &progress;
    EXPECT_THROW(cut.train(watch), Interrupted);
  }
  TrainJob resumed(task, count);
  resumed.keep_in(path, task.text(), true);
  const std::size_t kept = resumed.finished();
  EXPECT_EQ(kept, 3U);
  Impatience patience(1'000'000);
  ClassifyWatch watch;
  watch.progress = &patience;
  resumed.train(watch);
  EXPECT_EQ(patience.total(), (count - kept) * task.settings.epochs);
  for (std::size_t r = 0; r < count; ++r) {
    EXPECT_EQ(resumed.records()[r].history, whole.records()[r].history);
    EXPECT_EQ(resumed.records()[r].taps, whole.records()[r].taps);
    EXPECT_EQ(resumed.records()[r].test, whole.records()[r].test);
  }
  EXPECT_EQ(resumed.best_model(nullptr).layers, whole.best_model(nullptr).layers);
}

TEST(TrainJob, BelongsToItsTask) {
  const Dataset dataset = citation_network(150, 1);
  TrainTask task = task_on(dataset);
  const auto path = place_of_job();
  {
    TrainJob job(task, count);
    job.keep_in(path, task.text(), true);
    job.add("seed 1", "{}");
  }
  const auto refusal = [&] {
    return test::error_of<Error>([&] {
      TrainJob job(task, count);
      job.keep_in(path, task.text(), true);
    });
  };
  EXPECT_EQ(refusal(), "");
  task.settings.model.layers = 3;
  EXPECT_THAT(refusal(), HasSubstr("other settings"));
  task = task_on(dataset);
  task.split.train.pop_back();
  EXPECT_THAT(refusal(), HasSubstr("other settings"));
}

}  // namespace
