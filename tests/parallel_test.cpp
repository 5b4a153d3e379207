#include "base/parallel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ngf::detail {

namespace {

/// How often each of `count` pieces was done by a loop on `threads` threads.
std::vector<int> times_done(std::size_t count, int threads) {
  std::vector<std::atomic<int>> done(count);
  parallel_for(count, threads, [&](std::size_t i) { ++done[i]; });
  return {done.begin(), done.end()};
}

TEST(Parallel, EveryPieceIsDoneOnce) {
  for (const int threads : {1, 2, 3, 8, 300}) {
    for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 2, 7, 64, 1000}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(count) + " pieces");
      EXPECT_THAT(times_done(count, threads), testing::Each(1));
    }
  }
}

TEST(Parallel, ManyShortLoopsInARow) {
  std::atomic<std::uint64_t> sum{0};
  for (int loop = 0; loop < 20'000; ++loop) {
    parallel_for(4, 2, [&](std::size_t i) { sum += i; });
  }
  EXPECT_EQ(sum, 20'000U * 6);
}

TEST(Parallel, LoopsAfterHelpersHaveFallenAsleep) {
  for (int loop = 0; loop < 20; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_THAT(times_done(50, 3), testing::Each(1));
  }
}

TEST(Parallel, ThreadsOfALoopHaveNumbersOfTheirOwn) {
  constexpr int threads = 4;
  std::vector<std::atomic<int>> inside(threads);
  std::atomic<bool> shared{false};
  parallel_for(2000, threads, [&](std::size_t, std::size_t thread) {
    ASSERT_LT(thread, static_cast<std::size_t>(threads));
    if (++inside[thread] > 1) shared = true;
    --inside[thread];
  });
  EXPECT_FALSE(shared);
}

TEST(Parallel, TheFirstErrorIsThrown) {
  for (const int threads : {1, 2, 5}) {
    try {
      parallel_for(1000, threads, [](std::size_t i) {
        if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
    EXPECT_THAT(times_done(100, threads), testing::Each(1)) << "after an error";
  }
}

TEST(Parallel, ALoopInsideALoopIsDoneByItsOwnThread) {
  std::vector<int> wrong(64, 0);
  parallel_for(wrong.size(), 3, [&](std::size_t i) {
    const auto caller = std::this_thread::get_id();
    parallel_for(10, 3, [&](std::size_t, std::size_t thread) {
      if (thread != 0 || std::this_thread::get_id() != caller) ++wrong[i];
    });
  });
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(Parallel, ManyThreadsOfAProgramCallLoops) {
  std::atomic<int> wrong{0};
  constexpr int programs_threads = 12;
  std::vector<std::thread> callers;
  callers.reserve(programs_threads);
  for (int caller = 0; caller < programs_threads; ++caller) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 200; ++loop) {
        for (const int times : times_done(20, 3)) wrong += times != 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Parallel, AForkedChildHasHelpersOfItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a forked child that starts threads";
#endif
  times_done(100, 3);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs fails
    for (const int times : times_done(1000, 3)) {
      if (times != 1) std::_Exit(1);
    }
    std::_Exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(times_done(100, 3), testing::Each(1)) << "in the parent";
}

TEST(Parallel, RangesFollowEachOther) {
  for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 255, 256, 257, 100'000}) {
    std::vector<std::atomic<int>> done(count);
    parallel_ranges(count, 2, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++done[i];
    });
    EXPECT_THAT(std::vector<int>(done.begin(), done.end()), testing::Each(1));
  }
}

}  // namespace

}  // namespace ngf::detail
