// A main for one fuzzer in builds without libFuzzer: the seeds of its corpus, and mutations of them
// by a fixed seed, so that every build under sanitizers tries the readers on damaged files.
//
//     replay FOLDER MUTATIONS

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ngf/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> read_all(const std::filesystem::path& folder) {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// One to eight changes: a byte replaced, a bit flipped, a piece cut out, doubled, or taken from
/// another seed.
std::string mutate(std::string text, const std::string& other, ngf::Random& random) {
  for (std::uint64_t left = 1 + random.below(8); left > 0; --left) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = random.below(text.size() - at + 1);
    switch (random.below(5)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        if (text.size() < 65536) text.insert(at, text.substr(at, length));
        break;
      default:
        text.replace(at, length, other.substr(random.below(other.size() + 1), 64));
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: replay FOLDER MUTATIONS\n", stderr);
    return 2;
  }
  const std::vector<std::string> seeds = read_all(argv[1]);
  if (seeds.empty()) {
    std::fputs("replay: no seeds\n", stderr);
    return 1;
  }
  for (const std::string& seed : seeds) run(seed);
  ngf::Random random(1);
  for (int left = std::atoi(argv[2]); left > 0; --left) {
    const std::string& seed = seeds[random.below(seeds.size())];
    run(mutate(seed, seeds[random.below(seeds.size())], random));
  }
  return 0;
}
