// make_corpus FOLDER: writes the seeds of every fuzzer to FOLDER/fuzzer/seed.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "fuzz/corpus_binary.hpp"
#include "fuzz/corpus_text.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_corpus FOLDER\n", stderr);
    return 2;
  }
  auto fuzzers = binary_seeds();
  fuzzers.merge(text_seeds());
  for (const auto& [fuzzer, seeds] : fuzzers) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / fuzzer;
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] : seeds) {
      std::ofstream file(folder / name, std::ios::binary);
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
  }
  return 0;
}
