#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "verbs.hpp"

namespace ngf::cli {

namespace {

// Names that a user may write instead of a file.
constexpr std::string_view graph_names =
    "builtin:karate builtin:citation planetoid:cora planetoid:citeseer planetoid:pubmed "
    "sbm: er:nodes= ws:nodes= ba:nodes= grid: rmat:";

std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

std::vector<std::string> verbs_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> flags_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// The words that may follow a verb: its flags, its subcommands and their flags, each once.
std::set<std::string> words_after(const CLI::App& verb) {
  std::set<std::string> result;
  for (std::string& flag : flags_of(verb)) result.insert(std::move(flag));
  for (const CLI::App* below : verb.get_subcommands([](const CLI::App*) { return true; })) {
    result.insert(below->get_name());
    result.merge(words_after(*below));
  }
  return result;
}

/// The lines "verb) words='...' ;;" of a shell's case.
std::string flag_cases(const CLI::App& program) {
  std::string text;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format("    {}) words='{}' ;;\n", verb->get_name(),
                        fmt::join(words_after(*verb), " "));
  }
  return text;
}

// In bash a colon ends a word, so completions omit the part of a name before it.
std::string bash_script(const CLI::App& program) {
  return fmt::format(R"(# bash completion for ngf: source <(ngf completion bash)
_ngf() {{
  local words='' cur="${{COMP_WORDS[COMP_CWORD]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} {}' -- "$cur"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  declare -F _get_comp_words_by_ref >/dev/null && _get_comp_words_by_ref -n : cur
  mapfile -t COMPREPLY < <(compgen -W "$words {}" -- "$cur"; compgen -f -- "$cur")
  declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
}}
complete -o filenames -F _ngf ngf
)",
                     words(verbs_of(program)), words(flags_of(program)), flag_cases(program),
                     graph_names);
}

std::string zsh_script(const CLI::App& program) {
  return fmt::format(R"(#compdef ngf
# zsh completion for ngf: ngf completion zsh > "${{fpath[1]}}/_ngf"
_ngf() {{
  local words_typed=("${{words[@]}}") words=''
  if (( CURRENT == 2 )); then
    compadd -- {} {}
    return
  fi
  case "$words_typed[2]" in
{}  esac
  compadd -- ${{=words}} {}
  _files
}}
if [ "$funcstack[1]" = _ngf ]; then _ngf "$@"; else compdef _ngf ngf; fi
)",
                     words(verbs_of(program)), words(flags_of(program)), flag_cases(program),
                     graph_names);
}

}  // namespace

void add_completion(CLI::App& program) {
  auto shell = std::make_shared<std::string>();
  CLI::App* const verb = program.add_subcommand("completion", "Print a shell completion script");
  verb->add_option("SHELL", *shell, "Shell to complete in: bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  verb->callback([shell, &program] {
    fmt::print("{}", *shell == "bash" ? bash_script(program) : zsh_script(program));
  });
}

}  // namespace ngf::cli
