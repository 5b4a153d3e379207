#include "ngf/io/fetch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "io/sha256.hpp"
#include "ngf/io/catalog.hpp"
#include "ngf/io/load.hpp"
#include "ngf/random.hpp"
#include "tests/support.hpp"

namespace ngf::io {
namespace {

using std::filesystem::path;
using testing::ElementsAre;
using testing::HasSubstr;

std::string content_of(const path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const path& file, std::string_view content) {
  std::ofstream(file, std::ios::binary) << content;
}

std::string sum_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.finish();
}

// From FIPS 180-2, appendix B.
TEST(Sha256, GivesThePublishedAnswers) {
  EXPECT_EQ(sum_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sum_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  Sha256 sum;
  sum.add("forgotten");
  sum.restart();
  sum.add("a");
  sum.add("");
  sum.add("bc");
  EXPECT_EQ(sum.finish(), sum_of("abc"));
  sum.add("abc");
  EXPECT_EQ(sum.finish(), sum_of("abc"));
}

TEST(Sha256, ReadsWholeFiles) {
  const std::string content((1U << 20) + 17, 'x');
  EXPECT_EQ(sha256_of_file(test::temp_file("file", content)), sum_of(content));
}

/// tests/fetch_server.py, for as long as this object lives.
class Server {
 public:
  explicit Server(const path& folder) {
    std::array<int, 2> to_server{};
    std::array<int, 2> from_server{};
    if (pipe(to_server.data()) != 0 || pipe(from_server.data()) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_server[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_server[1], 1);
    for (const int end : {to_server[0], to_server[1], from_server[0], from_server[1]}) {
      posix_spawn_file_actions_addclose(&actions, end);
    }
    std::string python = NGF_PYTHON;
    std::string script = NGF_FETCH_SERVER;
    std::string root = folder.string();
    const std::array<char*, 4> arguments{python.data(), script.data(), root.data(), nullptr};
    const int result =
        posix_spawn(&process_, python.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to_server[0]);
    close(from_server[1]);
    input_ = to_server[1];
    FILE* const output = fdopen(from_server[0], "r");
    if (result != 0 || std::fscanf(output, "%d", &port_) != 1) port_ = 0;
    std::fclose(output);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    close(input_);
    waitpid(process_, nullptr, 0);
  }

  int port() const { return port_; }

 private:
  pid_t process_ = 0;
  int input_ = -1;
  int port_ = 0;
};

/// A file of 3 MB on the server, and a folder to fetch it to.
class Fetch : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(NGF_PYTHON)) GTEST_SKIP() << "no python3 to run the server";
    for (const char* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
      unsetenv(name);
    }
    folder_ = test::temp_file("marker").parent_path();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "served");
    Random random(1);
    for (int i = 0; i < 3000000; ++i) content_ += static_cast<char>(random.bits32());
    write_file(folder_ / "served/file", content_);
    target_ = folder_ / "made/by/fetch/file";
    part_ = target_.string() + ".part";
    server_ = std::make_unique<Server>(folder_ / "served");
    ASSERT_NE(server_->port(), 0);
  }

  std::string address(const std::string& place) const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + place;
  }

  Download download(const std::string& place) const {
    return {.url = address(place), .size = content_.size(), .sha256 = sum_of(content_)};
  }

  std::string error_of(const Download& what) const {
    return test::error_of<Error>([&] { fetch(what, target_); });
  }
  std::string error_of(const std::string& place) const { return error_of(download(place)); }

  void leave_part(std::string_view bytes) const {
    std::filesystem::create_directories(part_.parent_path());
    write_file(part_, bytes);
  }

  std::vector<std::string> requests() const {
    std::istringstream log(content_of(folder_ / "served/requests"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(log, line);) lines.push_back(line);
    return lines;
  }

  /// The target is there and right, and nothing else is.
  void expect_fetched() const {
    EXPECT_TRUE(content_of(target_) == content_);
    EXPECT_FALSE(exists(part_));
  }
  void expect_nothing_left() const {
    EXPECT_FALSE(exists(target_));
    EXPECT_FALSE(exists(part_));
  }

  path folder_;
  path target_;
  path part_;
  std::string content_;
  std::unique_ptr<Server> server_;
};

TEST_F(Fetch, BringsTheFile) {
  fetch(download("/plain/file"), target_);
  expect_fetched();
  EXPECT_THAT(requests(), ElementsAre("/plain/file -"));
}

TEST_F(Fetch, ReplacesWhatIsThere) {
  std::filesystem::create_directories(target_.parent_path());
  write_file(target_, "old");
  EXPECT_NE(error_of("/wrong/file"), "");
  EXPECT_EQ(content_of(target_), "old");
  fetch(download("/plain/file"), target_);
  expect_fetched();
}

TEST_F(Fetch, RefusesTheWrongContent) {
  EXPECT_THAT(error_of("/wrong/file"), HasSubstr(address("/wrong/file") + ": wrong content"));
  expect_nothing_left();
  EXPECT_THAT(error_of("/long/file"), HasSubstr("more than the 3000000 bytes"));
  expect_nothing_left();
}

TEST_F(Fetch, AsksOnlyForTheRestAfterACut) {
  EXPECT_THAT(error_of("/cut/file"), HasSubstr("cut after 1500000 of 3000000 bytes"));
  EXPECT_FALSE(exists(target_));
  EXPECT_EQ(file_size(part_), 1500000U);
  fetch(download("/cut/file"), target_);
  expect_fetched();
  EXPECT_THAT(requests(), ElementsAre("/cut/file -", "/cut/file bytes=1500000-"));
}

TEST_F(Fetch, ResumesWhatEndedWithoutALength) {
  EXPECT_THAT(error_of("/short/file"), HasSubstr("1500000 of 3000000"));
  fetch(download("/plain/file"), target_);
  expect_fetched();
}

TEST_F(Fetch, StartsAgainWhereTheServerKnowsNoRanges) {
  leave_part(content_.substr(0, 1000));
  fetch(download("/norange/file"), target_);
  expect_fetched();
  EXPECT_THAT(requests(), ElementsAre("/norange/file bytes=1000-"));
}

TEST_F(Fetch, RemovesAPartThatIsWrong) {
  leave_part("something else");
  EXPECT_THAT(error_of("/plain/file"), HasSubstr("wrong content"));
  expect_nothing_left();
  leave_part(content_ + "x");
  EXPECT_THAT(error_of("/plain/file"), HasSubstr("longer than the 3000000 bytes"));
  expect_nothing_left();
  leave_part(content_.substr(0, 1000));
  EXPECT_THAT(error_of("/empty/file"), HasSubstr("less of this file"));
  expect_nothing_left();
}

TEST_F(Fetch, NeedsNoServerForAPartThatIsWhole) {
  leave_part(content_);
  fetch(download("/nowhere"), target_);
  expect_fetched();
  EXPECT_TRUE(requests().empty());
}

TEST_F(Fetch, NamesTheAddressThatIsNotThere) {
  EXPECT_THAT(error_of("/plain/absent"), HasSubstr(address("/plain/absent")));
  EXPECT_THAT(error_of("/plain/absent"), HasSubstr("404"));
  expect_nothing_left();
  leave_part(content_.substr(0, 1000));
  EXPECT_THAT(error_of("/plain/absent"), HasSubstr("404"));
  EXPECT_EQ(file_size(part_), 1000U);  // what came before may still be of use
}

TEST_F(Fetch, FollowsRedirectsButNotForever) {
  fetch(download("/moved/file"), target_);
  expect_fetched();
  EXPECT_THAT(error_of("/loop/file"), HasSubstr("redirects more than 5 times"));
  EXPECT_EQ(requests().size(), 2U + 6U);
  EXPECT_THAT(error_of("/away/file"), HasSubstr("redirects to an address"));
}

TEST_F(Fetch, SaysWhyThereIsNoConnection) {
  Download what = download("/plain/file");
  what.url = "https" + what.url.substr(4);
  EXPECT_THAT(error_of(what), HasSubstr("no secure connection"));
  what.url = "http://127.0.0.1:1/file";
  EXPECT_THAT(error_of(what), HasSubstr("no connection"));
  // A label of more than 63 letters is no name: the answer needs no network.
  what.url = "https://" + std::string(64, 'a') + ".invalid/file";
  EXPECT_THAT(error_of(what), HasSubstr("cannot be resolved"));
  expect_nothing_left();
}

TEST_F(Fetch, RefusesUnsafeAddresses) {
  Download what = download("/plain/file");
  for (const char* url :
       {"http://example.org/file", "http://127.0.0.1.example.org/file",
        "http://localhost@example.org/file", "ftp://example.org/file", "file:///etc/passwd", "",
        "example.org/file", "https://a b", "https://a\n"}) {
    what.url = url;
    EXPECT_THAT(error_of(what), HasSubstr("address")) << url;
  }
  expect_nothing_left();
}

class StopsAfterSomeBytes : public Progress {
 public:
  void report(std::uint64_t done, std::uint64_t total) override {
    EXPECT_LE(done, total);
    stop_ = stop_ || done > 0;
  }
  bool stop_requested() const override { return stop_; }

 private:
  bool stop_ = false;
};

TEST_F(Fetch, KeepsThePartWhenInterrupted) {
  StopsAfterSomeBytes progress;
  EXPECT_THROW(fetch(download("/plain/file"), target_, &progress), Interrupted);
  EXPECT_FALSE(exists(target_));
  const auto got = file_size(part_);
  EXPECT_GT(got, 0U);
  fetch(download("/plain/file"), target_);
  expect_fetched();
  EXPECT_EQ(requests().back(), "/plain/file bytes=" + std::to_string(got) + "-");
}

TEST_F(Fetch, SaysWhereItCannotWrite) {
  write_file(folder_ / "made", "a file, not a folder");
  EXPECT_THAT(error_of("/plain/file"), HasSubstr("made/by/fetch"));
}

TEST_F(Fetch, NeverWritesThroughALink) {
  const path victim = folder_ / "victim";
  for (const bool symbolic : {true, false}) {
    write_file(victim, "precious");
    std::filesystem::create_directories(part_.parent_path());
    if (symbolic) {
      std::filesystem::create_symlink(victim, part_);
    } else {
      std::filesystem::create_hard_link(victim, part_);
    }
    EXPECT_THAT(error_of("/plain/file"), AllOf(HasSubstr(part_.string()), HasSubstr("remove it")));
    EXPECT_EQ(content_of(victim), "precious");
    std::filesystem::remove(part_);
  }
  ASSERT_EQ(mkfifo(part_.c_str(), 0600), 0);
  EXPECT_THAT(error_of("/plain/file"), HasSubstr("no regular file"));
}

class Catalogue : public Fetch {
 protected:
  void serve_cora(const path& from) const {
    for (const KnownFile& file : known_dataset("planetoid:cora").files) {
      copy_file(from / "planetoid" / file.name, folder_ / "served" / file.name);
    }
  }
};

TEST_F(Catalogue, FetchesADatasetAndSkipsWhatIsThere) {
  NGF_NEED_DATA(data);
  serve_cora(data);
  const path cache = folder_ / "cache";
  EXPECT_EQ(fetch_dataset("planetoid:cora", cache, address("/plain")), cache / "planetoid");
  EXPECT_EQ(requests().size(), 8U);
  const std::array folders{path(), folder_ / "absent", cache};
  EXPECT_EQ(find_dataset("planetoid:cora", folders), cache / "planetoid");
  EXPECT_EQ(find_dataset("planetoid:cora", std::array{cache / "planetoid"}), cache / "planetoid");

  // Broken and lost files are fetched again, and no others.
  write_file(cache / "planetoid/ind.cora.ty", "broken");
  std::filesystem::remove(cache / "planetoid/ind.cora.x");
  EXPECT_EQ(locate_dataset("planetoid:cora", folders), std::nullopt);
  fetch_dataset("planetoid:cora", cache, address("/plain/"));
  const std::vector<std::string> seen = requests();
  ASSERT_EQ(seen.size(), 10U);
  EXPECT_EQ(seen[8], "/plain/ind.cora.x -");
  EXPECT_EQ(seen[9], "/plain/ind.cora.ty -");
  EXPECT_TRUE(locate_dataset("planetoid:cora", folders));
}

class LastReport : public Progress {
 public:
  void report(std::uint64_t done, std::uint64_t total) override {
    EXPECT_GE(done, done_);
    done_ = done;
    total_ = total;
  }
  std::uint64_t done() const { return done_; }
  std::uint64_t total() const { return total_; }

 private:
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

TEST_F(Catalogue, ReportsProgressOfAllFilesTogether) {
  NGF_NEED_DATA(data);
  serve_cora(data);
  LastReport progress;
  fetch_dataset("planetoid:cora", folder_ / "cache", address("/plain"), &progress);
  EXPECT_EQ(progress.total(), known_dataset("planetoid:cora").bytes());
  EXPECT_EQ(progress.done(), progress.total());
}

TEST(KnownDatasets, MatchTheFilesThatPeopleHave) {
  NGF_NEED_DATA(data);
  for (const KnownDataset& dataset : known_datasets()) {
    EXPECT_EQ(find_dataset(dataset.name, std::array{data}), data / "planetoid");
    for (const KnownFile& file : dataset.files) {
      const path place = data / dataset.folder / file.name;
      EXPECT_EQ(std::filesystem::file_size(place), file.size) << file.name;
      EXPECT_EQ(sha256_of_file(place), file.sha256) << file.name;
    }
  }
}

TEST(KnownDatasets, AreComparedWithTheirSums) {
  NGF_NEED_DATA(data);
  const path folder = test::temp_file("marker").parent_path();
  for (const KnownFile& file : known_dataset("planetoid:cora").files) {
    copy_file(data / "planetoid" / file.name, folder / file.name,
              std::filesystem::copy_options::overwrite_existing);
  }
  const std::array folders{folder};
  EXPECT_THAT(load("planetoid:cora", {}, folders).warnings, testing::IsEmpty());
  // The last bit of a feature: the file is as well-formed as before.
  const path allx = folder / "ind.cora.allx";
  std::string bytes = content_of(allx);
  const std::size_t one = bytes.find(std::string("\0\0\x80\x3f", 4));
  ASSERT_NE(one, std::string::npos);
  bytes[one] = 1;
  write_file(allx, bytes);
  EXPECT_THAT(test::error_of<Error>([&] { load("planetoid:cora", {}, folders); }),
              AllOf(HasSubstr(allx.string() + ": is not the file of planetoid:cora"),
                    HasSubstr("ngf data get planetoid:cora"), HasSubstr("the option lenient")));
  EXPECT_THAT(load("planetoid:cora", {.lenient = true}, folders).warnings,
              ElementsAre(HasSubstr("SHA-256 differs")));
  EXPECT_EQ(read_graph(folder / "ind.cora.graph").dataset.graph.nodes(), 2708U);
}

TEST(KnownDatasets, AreNamedWhenOneIsUnknownOrAbsent) {
  const auto unknown = test::error_of<Error>([] { known_dataset("planetoid:corra"); });
  EXPECT_THAT(unknown, HasSubstr("planetoid:corra"));
  EXPECT_THAT(unknown, HasSubstr("planetoid:cora, planetoid:citeseer, planetoid:pubmed"));
  const auto absent = test::error_of<Error>([] {
    find_dataset("planetoid:cora", std::array{path("first"), path(), path("second")});
  });
  EXPECT_THAT(absent, HasSubstr("first, second"));
  EXPECT_THAT(absent, HasSubstr("ngf data get planetoid:cora"));
  EXPECT_NE(test::error_of<Error>([] { fetch_dataset("planetoid:cora", {}); }), "");
}

TEST(CacheFolder, FollowsTheRulesOfXdg) {
  EXPECT_EQ(cache_folder("/cache", "/home/me"), "/cache/ngf");
  EXPECT_EQ(cache_folder(nullptr, "/home/me"), "/home/me/.cache/ngf");
  EXPECT_EQ(cache_folder("", "/home/me"), "/home/me/.cache/ngf");
  EXPECT_EQ(cache_folder("relative", "/home/me"), "/home/me/.cache/ngf");
  EXPECT_EQ(cache_folder(nullptr, nullptr), "");
  EXPECT_EQ(cache_folder(nullptr, ""), "");
}

}  // namespace
}  // namespace ngf::io
