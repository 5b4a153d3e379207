#pragma once

#include <CLI/CLI.hpp>

/// One function per verb: it adds the verb, its flags and its action to the program.
namespace ngf::cli {

void add_info(CLI::App& program);
void add_convert(CLI::App& program);
void add_perturb(CLI::App& program);
void add_shells(CLI::App& program);
void add_filter(CLI::App& program);
void add_features(CLI::App& program);
void add_denoise(CLI::App& program);
void add_robustness(CLI::App& program);
void add_train(CLI::App& program);
void add_predict(CLI::App& program);
void add_reproduce(CLI::App& program);
void add_bench(CLI::App& program);
void add_data(CLI::App& program);
void add_completion(CLI::App& program);

/// Text of `--version`.
void print_version(bool json);

}  // namespace ngf::cli
