#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "common.hpp"
#include "kernels/target.hpp"
#include "ngf/error.hpp"
#include "ranks.hpp"
#include "standard_streams.hpp"
#include "suggest.hpp"
#include "verbs.hpp"

namespace {

using namespace ngf::cli;

int complain(std::string_view text, int exit_code = failed) {
  return Ranks::fail(exit_code, fmt::format("ngf: {}\n", one_line(text)));
}

/// What was printed has to arrive.
int flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return done;
  return complain("cannot write to standard output");
}

/// CLI11 throws for --help as well; only real mistakes are wrong usage.
int answer_parse_error(const CLI::App& program, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    program.exit(error);
    return flush_output();
  }
  if (!speaks()) return wrong_usage;
  const CLI::App* verb = &program;
  std::string words;
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    words += verb->get_name() + " ";
  }
  const std::string suggestion = suggest(program, *verb);
  print_stderr("ngf: {}\nTry: ngf {}--help\n", suggestion.empty() ? error.what() : suggestion,
               words);
  return wrong_usage;
}

int run(int argc, char** argv) {
  CLI::App program(
      "Neighbourhood graph filters: k-hop matrices, filters, node classification and denoising");
  program.name("ngf");
  bool version = false;
  bool json = false;
  CLI::Option* const asked = program.add_flag(
      "--version", version, "Print version, compiler, instruction sets, threads and libraries");
  program.add_flag("--json", json, "With --version: print JSON")->needs(asked);
  program.require_subcommand(0, 1);
  add_info(program);
  add_convert(program);
  add_shells(program);
  add_filter(program);
  add_features(program);
  add_perturb(program);
  add_robustness(program);
  add_train(program);
  add_predict(program);
  add_denoise(program);
  add_reproduce(program);
  add_bench(program);
  add_data(program);
  add_completion(program);
  refuse_infinite_numbers(program);
  try {
    program.parse(argc, argv);
    if (version) {
      print_version(json);
    } else if (program.get_subcommands().empty()) {
      print_stderr("ngf: name a verb, such as: ngf info builtin:karate\n{}", program.help());
      return wrong_usage;
    }
  } catch (const CLI::ParseError& error) {
    return answer_parse_error(program, error);
  }
  return flush_output();
}

int run_as_rank(int argc, char** argv) {
  try {
    if (const char* const target = std::getenv("NGF_TARGET")) ngf::kernels::use_target(target);
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; give less work or more memory");
  } catch (const std::exception& error) {
    // Long output fails where it is printed, short output where it is flushed.
    if (std::ferror(stdout) != 0) return flush_output();
    // Whatever fails after a signal may fail because of it, as a file that waits to be opened does.
    if (exit_code_of_signal() == 0) return complain(message_of(error));
    return complain("interrupted", exit_code_of_signal());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    open_standard_streams();
    const Ranks ranks;
    listen_for_signals();
    Ranks::agree_on({argv + 1, argv + argc});
    if (!Ranks::take_part_in(argc > 1 ? argv[1] : "")) return done;
    return run_as_rank(argc, argv);
  } catch (const std::exception& error) {
    return complain(message_of(error));
  }
}
