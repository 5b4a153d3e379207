#include "ngf/error.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "ngf/generate.hpp"
#include "ngf/shells.hpp"

namespace ngf {
namespace {

/// "<memory 4000>"
std::string spell(const Setting& setting) {
  std::string value;
  if (const auto* const number = std::get_if<std::uint64_t>(&setting.value)) {
    value = " " + std::to_string(*number);
  } else if (const auto* const word = std::get_if<std::string>(&setting.value)) {
    value = " " + *word;
  }
  return "<" + setting.field + value + ">";
}

/// A shell plan that does not fit.
MemoryExceeded refusal() {
  ShellOptions options;
  options.memory = 8'000'000;
  options.threads = 1;
  options.hops = 3;
  options.storage = Storage::dense;
  try {
    build_shells(barabasi_albert(4000, 2, 1), options);
  } catch (const MemoryExceeded& error) {
    return error;
  }
  return {"nothing was refused", 0};
}

TEST(Error, AdviceIsSpelledByWhoeverShowsIt) {
  const Error error(
      "x", {"give {}, {} or {}, and {}",
            {{"memory", std::uint64_t{4000}}, {"storage", "stream"}, {"resume", true}, {"lr"}}});
  EXPECT_STREQ(error.what(), "x; give memory=4000, storage=stream or resume, and lr");
  EXPECT_EQ(error.text(spell), "x; give <memory 4000>, <storage stream> or <resume>, and <lr>");
}

TEST(Error, WithoutAdviceIsItsProblem) {
  EXPECT_STREQ(Error("{}: no --memory {").what(), "{}: no --memory {");
  EXPECT_EQ(Error("{}: no --memory {").text(spell), "{}: no --memory {");
}

TEST(Error, APlaceIsNamedOnce) {
  Error error("{}: is empty", {"use {}", {{"lenient", true}}});
  error.add_place("{}");
  EXPECT_EQ(error.text(spell), "{}: is empty; use <lenient>");
  error.add_place("a.csv");
  EXPECT_EQ(error.text(spell), "a.csv: {}: is empty; use <lenient>");
}

TEST(Error, KeepsItsTypeAndAdviceBetweenThreads) {
  try {
    detail::parallel_for(100, 4, [](std::size_t i) {
      if (i < 50) return;
      try {
        detail::check_budget(100, 10, "a test");
      } catch (Error& error) {
        error.add_place("task " + std::to_string(i));
        throw;
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const MemoryExceeded& error) {
    EXPECT_EQ(error.needed(), 100);
    EXPECT_EQ(error.text(spell),
              "task 50: a test needs 100 bytes of memory, but 10 bytes of the budget of 10 bytes "
              "is left; give <memory 100>");
  }
}

TEST(Error, ARefusalOffersEachWayOut) {
  const MemoryExceeded error = refusal();
  ASSERT_EQ(error.advice().settings.size(), 2);
  EXPECT_EQ(error.advice().settings[0].field, "memory");
  EXPECT_EQ(std::get<std::uint64_t>(error.advice().settings[0].value), error.needed());
  const std::string end = "; give memory=" + std::to_string(error.needed()) + ", or storage=stream";
  EXPECT_TRUE(std::string(error.what()).ends_with(end)) << error.what();
}

}  // namespace
}  // namespace ngf
