#include "ngf/io/catalog.hpp"

#include <numeric>

#include "base/fail.hpp"
#include "base/part_of_progress.hpp"
#include "io/planetoid.hpp"
#include "io/sha256.hpp"
#include "ngf/io/fetch.hpp"

namespace ngf::io {

using Path = std::filesystem::path;

namespace {

// One commit of the repository of Yang, Cohen and Salakhutdinov, "Revisiting semi-supervised
// learning with graph embeddings", ICML 2016.
constexpr std::string_view planetoid_url =
    "https://raw.githubusercontent.com/kimiyoung/planetoid/"
    "af6abf468a772cc055bec88c52e4d6f51b7c37e3/data";

struct Content {
  std::uint64_t size;
  std::string_view sha256;
};

// In the order of `planetoid_endings`.
constexpr std::array<Content, 8> cora{
    {{22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"},
     {4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"},
     {148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"},
     {28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"},
     {257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"},
     {47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"},
     {59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"},
     {5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"}}};
constexpr std::array<Content, 8> citeseer{
    {{31087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"},
     {3014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"},
     {260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"},
     {24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"},
     {595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"},
     {55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"},
     {61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"},
     {5000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"}}};
constexpr std::array<Content, 8> pubmed{
    {{23172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"},
     {854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"},
     {405505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"},
     {12135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"},
     {7578385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"},
     {224739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"},
     {471808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"},
     {6000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"}}};

KnownDataset planetoid(const std::string& name, const std::array<Content, 8>& contents) {
  KnownDataset dataset{"planetoid:" + name, "planetoid", planetoid_url, {}};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    dataset.files[i] = {planetoid_file(name, planetoid_endings[i]), contents[i].size,
                        contents[i].sha256};
  }
  return dataset;
}

/// The first file that `folder` lacks; null when it has all.
const KnownFile* missing_file(const KnownDataset& dataset, const Path& folder) {
  for (const KnownFile& file : dataset.files) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(folder / file.name, ignored)) return &file;
  }
  return nullptr;
}

bool is_right(const Path& path, const KnownFile& file, const Progress* progress) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) &&
         std::filesystem::file_size(path, error) == file.size && !error &&
         sha256_of_file(path, progress) == file.sha256;
}

}  // namespace

std::uint64_t KnownDataset::bytes() const {
  return std::accumulate(files.begin(), files.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const KnownFile& file) { return sum + file.size; });
}

std::span<const KnownDataset> known_datasets() {
  static const std::array<KnownDataset, 3> catalogue{
      planetoid("cora", cora), planetoid("citeseer", citeseer), planetoid("pubmed", pubmed)};
  return catalogue;
}

const KnownDataset& known_dataset(std::string_view name) {
  std::string names;
  for (const KnownDataset& dataset : known_datasets()) {
    if (dataset.name == name) return dataset;
    names += (names.empty() ? "" : ", ") + dataset.name;
  }
  fail("{}: no data set has this name; the known ones are {}", name, names);
}

std::optional<Path> locate_dataset(std::string_view name, std::span<const Path> folders) {
  const KnownDataset& dataset = known_dataset(name);
  for (const Path& folder : folders) {
    if (folder.empty()) continue;
    for (const Path& place : {folder / dataset.folder, folder}) {
      if (missing_file(dataset, place) == nullptr) return place;
    }
  }
  return {};
}

Path find_dataset(std::string_view name, std::span<const Path> folders) {
  if (auto place = locate_dataset(name, folders)) return *place;
  std::string looked;
  for (const Path& folder : folders) {
    if (!folder.empty()) looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  fail("{}: its {} files are not in any of {}; get them with: ngf data get {}", name,
       known_dataset(name).files.size(), looked, name);
}

std::optional<Path> find_wrong_file(std::string_view name, const Path& folder,
                                    const Progress* progress) {
  for (const KnownFile& file : known_dataset(name).files) {
    if (!is_right(folder / file.name, file, progress)) return folder / file.name;
  }
  return {};
}

Path cache_folder(const char* xdg_cache_home, const char* home) {
  // The rules say that a relative path here is to be ignored.
  if (xdg_cache_home != nullptr && Path(xdg_cache_home).is_absolute()) {
    return Path(xdg_cache_home) / "ngf";
  }
  if (home != nullptr && *home != '\0') return Path(home) / ".cache" / "ngf";
  return {};
}

Path fetch_dataset(std::string_view name, const Path& folder, const std::string& base_url,
                   Progress* progress) {
  const KnownDataset& dataset = known_dataset(name);
  if (folder.empty()) {
    throw Error(fmt::format("{}: there is no folder to put it into", name),
                {"name one with {}", {{"data"}}});
  }
  std::string base = base_url.empty() ? std::string(dataset.url) : base_url;
  if (!base.ends_with('/')) base += '/';
  Path place = folder / dataset.folder;
  std::uint64_t done = 0;
  for (const KnownFile& file : dataset.files) {
    detail::PartOfProgress part(progress, done, dataset.bytes());
    if (!is_right(place / file.name, file, progress)) {
      fetch({.url = base + file.name,
             .size = file.size,
             .sha256 = std::string(file.sha256),
             .allow_http = !base_url.empty()},
            place / file.name, &part);
    }
    part.report(file.size, file.size);
    done += file.size;
  }
  return place;
}

}  // namespace ngf::io
