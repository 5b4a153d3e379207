#include "ngf/error.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

namespace ngf {

namespace {

/// For readers who know neither flags nor keyword arguments: "memory=4000", "resume".
std::string spell_plainly(const Setting& setting) {
  if (const auto* const number = std::get_if<std::uint64_t>(&setting.value)) {
    return fmt::format("{}={}", setting.field, *number);
  }
  const auto* const word = std::get_if<std::string>(&setting.value);
  return word != nullptr ? setting.field + "=" + *word : setting.field;
}

std::string worded(const std::string& problem, const Advice& advice,
                   std::string (*spell)(const Setting& setting)) {
  if (advice.text.empty()) return problem;
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  for (const Setting& setting : advice.settings) words.push_back(spell(setting));
  return problem + "; " + fmt::vformat(advice.text, words);
}

}  // namespace

Error::Error(const std::string& problem, Advice advice)
    : std::runtime_error(worded(problem, advice, spell_plainly)),
      content_(std::make_shared<const Content>(problem, std::move(advice))) {}

std::string Error::text(std::string (*spell)(const Setting& setting)) const {
  return worded(content_->problem, content_->advice, spell);
}

void Error::add_place(std::string_view name) {
  if (content_->problem.starts_with(name)) return;
  *this = Error(fmt::format("{}: {}", name, content_->problem), content_->advice);
}

}  // namespace ngf
