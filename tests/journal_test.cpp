#include "ngf/tasks/journal.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <map>
#include <optional>

#include "io/input.hpp"
#include "ngf/error.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Error;
using ngf::Journal;
using ngf::test::error_of;
using ngf::test::temp_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::Pointee;

std::filesystem::path new_path() {
  auto path = temp_file("job.journal");
  std::filesystem::remove(path);
  return path;
}

std::string content_of(const std::filesystem::path& path) {
  return ngf::io::Input(path).read_all();
}

void overwrite(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string refusal(const std::filesystem::path& path, const std::string& settings, bool resume) {
  return error_of<Error>([&] { const Journal journal(path, settings, resume); });
}

/// Two pieces, as a job that was killed has left them.
std::filesystem::path cut_job() {
  auto path = new_path();
  Journal journal(path, "settings", false);
  journal.add("run 1", R"({"seed": 1, "accuracy": 0.8125})");
  journal.add("run \"2\"\n", "[1,2.5e-300,null]");
  return path;
}

TEST(Journal, KeepsPiecesAsTheyWere) {
  const auto path = cut_job();
  const Journal journal(path, "settings", true);
  EXPECT_EQ(journal.size(), 2U);
  EXPECT_THAT(journal.find("run 1"), Pointee(std::string(R"({"seed": 1, "accuracy": 0.8125})")));
  EXPECT_THAT(journal.find("run \"2\"\n"), Pointee(std::string("[1,2.5e-300,null]")));
  EXPECT_EQ(journal.find("run 3"), nullptr);
}

TEST(Journal, GoesOnWhereItWasCut) {
  const auto path = cut_job();
  const std::string whole = content_of(path);
  const std::size_t first = whole.find('\n') + 1;
  const std::size_t second = whole.find('\n', first) + 1;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    overwrite(path, whole.substr(0, length));
    {
      Journal journal(path, "settings", true);
      const std::size_t kept = length < second ? 0 : length < whole.size() ? 1 : 2;
      ASSERT_EQ(journal.size(), kept) << length;
      journal.add("run 3", "3");
    }
    const Journal journal(path, "settings", true);
    ASSERT_THAT(journal.find("run 3"), Pointee(std::string("3"))) << length;
  }
}

TEST(Journal, DropsDamagedLinesAlone) {
  const auto path = cut_job();
  const std::string whole = content_of(path);
  const std::size_t header = whole.find('\n') + 1;
  for (const std::string& line :
       std::vector<std::string>{std::string(5, '\0'), "{}", R"({"key":"run 1","piece":1})", "[]"}) {
    overwrite(path, whole.substr(0, header) + line + "\n" + whole.substr(header));
    {
      const Journal journal(path, "settings", true);
      EXPECT_EQ(journal.size(), 2U) << line;
      EXPECT_THAT(journal.damage(),
                  AllOf(HasSubstr(path.string()), HasSubstr("1 damaged record;")));
    }
    // It is told once.
    const Journal journal(path, "settings", true);
    EXPECT_EQ(journal.size(), 2U) << line;
    EXPECT_EQ(journal.damage(), "") << line;
  }
}

TEST(Journal, NoticesEveryFlippedBit) {
  const auto path = cut_job();
  const std::string whole = content_of(path);
  const std::size_t header = whole.find('\n');
  const std::map<std::string, std::string> pieces{{"run 1", R"({"seed": 1, "accuracy": 0.8125})"},
                                                  {"run \"2\"\n", "[1,2.5e-300,null]"}};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      overwrite(path, damaged);
      const std::string refused = error_of<Error>([&] {
        const Journal journal(path, "settings", true);
        std::size_t kept = 0;
        for (const auto& [key, piece] : pieces) {
          if (journal.find(key) == nullptr) continue;
          ++kept;
          EXPECT_EQ(*journal.find(key), piece) << i << ", bit " << bit;
        }
        EXPECT_EQ(journal.size(), kept) << i << ", bit " << bit;
        // Damage of one record leaves the others, unless it joins two.
        EXPECT_GE(kept, whole[i] == '\n' ? 0U : 1U) << i << ", bit " << bit;
      });
      if (i > header) {
        EXPECT_EQ(refused, "");
      } else {
        EXPECT_THAT(refused, testing::StartsWith(path.string() + ": ")) << i << ", bit " << bit;
      }
    }
  }
}

TEST(Journal, TellsOtherFormats) {
  const auto path = new_path();
  for (const char* const header :
       {R"({"ngf-journal":1,"settings":"settings"})", R"({"ngf-journal":3})"}) {
    overwrite(path, std::string(header) + "\n{\"key\":\"a\",\"piece\":1}\n");
    EXPECT_THAT(refusal(path, "settings", true),
                AllOf(HasSubstr(path.string()), HasSubstr("another version"), HasSubstr("remove")));
  }
  EXPECT_EQ(refusal(path, "settings", false), "");
}

TEST(Journal, BeginsAnewUnlessToldToGoOn) {
  const auto path = cut_job();
  const std::string whole = content_of(path);
  const Journal journal(path, "settings", false);
  EXPECT_EQ(journal.size(), 0U);
  EXPECT_EQ(content_of(path), whole.substr(0, whole.find('\n') + 1));
  EXPECT_THAT(whole, testing::StartsWith(R"({"ngf-journal":2,"sha256":")"));
}

TEST(Journal, ResumesNothingWhereNothingIs) {
  const auto path = new_path();
  const Journal journal(path, "settings", true);
  EXPECT_EQ(journal.size(), 0U);
}

TEST(Journal, BelongsToItsSettings) {
  const auto path = cut_job();
  const std::string whole = content_of(path);
  for (const char* const other : {"", "Settings", "settings ", "settings\"}\n"}) {
    EXPECT_THAT(refusal(path, other, true),
                AllOf(HasSubstr(path.string()), HasSubstr("other settings"), HasSubstr("remove")));
  }
  EXPECT_EQ(content_of(path), whole);
  // A new job takes its place.
  EXPECT_EQ(refusal(path, "Settings", false), "");
}

TEST(Journal, NeverOverwritesAnythingElse) {
  for (const bool resume : {false, true}) {
    const auto path = temp_file("thesis.txt", "{\"title\": 1}\n");
    EXPECT_THAT(refusal(path, "settings", resume), HasSubstr("no journal"));
    EXPECT_EQ(content_of(path), "{\"title\": 1}\n");
    EXPECT_THAT(refusal("/dev/null", "settings", resume), HasSubstr("/dev/null"));
    EXPECT_THAT(refusal(path.parent_path(), "settings", resume), HasSubstr("cannot be written"));
    EXPECT_THAT(refusal(path.parent_path() / "missing" / "j", "settings", resume),
                HasSubstr("cannot be written"));
  }
  // A pipe is not waited for.
  const auto pipe = new_path();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal(pipe, "settings", true), HasSubstr("no file"));
}

TEST(Journal, IsWrittenByOneJobAtATime) {
  const auto path = new_path();
  std::optional<Journal> first(std::in_place, path, "settings", false);
  first->add("a", "1");
  for (const bool resume : {false, true}) {
    EXPECT_THAT(refusal(path, "settings", resume), HasSubstr("another process"));
  }
  first.reset();
  const Journal second(path, "settings", true);
  EXPECT_EQ(second.size(), 1U);
}

TEST(Journal, GoesWhenTheJobIsDone) {
  const auto path = cut_job();
  Journal journal(path, "settings", true);
  journal.remove();
  EXPECT_FALSE(std::filesystem::exists(path));
  const Journal next(path, "settings", true);
  EXPECT_EQ(next.size(), 0U);
}

TEST(Journal, RefusesPiecesThatAreNoLines) {
  const auto path = new_path();
  Journal journal(path, "settings", false);
  for (const char* const text : {"", "{", "{}\n", "{\n}", "{} {}", "nan"}) {
    EXPECT_THAT(error_of<Error>([&] { journal.add("a", text); }), HasSubstr("JSON in one line"));
  }
  EXPECT_EQ(journal.size(), 0U);
}

TEST(Journal, GoesOnAfterAFullDisk) {
  const auto path = new_path();
  Journal journal(path, "settings", false);
  journal.add("a", "1");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{std::filesystem::file_size(path) + 10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const std::string error = error_of<Error>([&] { journal.add("b", "[1,2,3,4,5,6,7,8,9,10]"); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(error, HasSubstr("cannot be written"));
  EXPECT_EQ(journal.find("b"), nullptr);
  journal.add("c", "3");
  EXPECT_EQ(journal.size(), 2U);
  EXPECT_THAT(content_of(path), testing::EndsWith("\"key\":\"c\",\"piece\":3}\n"));
}

}  // namespace
