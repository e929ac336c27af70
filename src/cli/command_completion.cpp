// `gpusonde completion bash|zsh|fish`: made from the command table itself, so it never falls behind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"

namespace gpusonde::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string bash(const CLI::App& app) {
  std::string cases;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    auto words = command_names(*command);
    const auto options = option_names(*command);
    words.insert(words.end(), options.begin(), options.end());
    cases += fmt::format("      {}) words=\"{}\";;\n", command->get_name(), fmt::join(words, " "));
  }
  return fmt::format(R"(# bash completion for gpusonde
_gpusonde() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" words="" word
  local commands="{}" globals="{}"
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in
{}    esac
  done
  [ -z "$words" ] && words="$commands"
  COMPREPLY=($(compgen -W "$words $globals" -- "$cur"))
  [ ${{#COMPREPLY[@]}} -eq 0 ] && COMPREPLY=($(compgen -f -- "$cur"))
}}
complete -F _gpusonde gpusonde
)",
                     fmt::join(command_names(app), " "), fmt::join(option_names(app), " "), cases);
}

std::string quoted(std::string_view text, std::string_view escaped) {
  std::string out;
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos) out += '\\';
    if (c != '\'') out += c;
  }
  return out;
}

std::string zsh(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), quoted(command->get_description(), ":"));
    auto words = command_names(*command);
    const auto options = option_names(*command);
    words.insert(words.end(), options.begin(), options.end());
    cases += fmt::format("    {}) compadd -- {} ;;\n", command->get_name(), fmt::join(words, " "));
  }
  return fmt::format(R"(#compdef gpusonde
_gpusonde() {{
  local -a commands=(
{}  )
  local word chosen=""
  for word in "${{words[@]:1:$((CURRENT-2))}}"; do
    (( ${{commands[(I)$word:*]}} )) && chosen="$word"
  done
  case "$chosen" in
{}    *) _describe command commands ;;
  esac
  compadd -- {}
  _files
}}
_gpusonde "$@"
)",
                     commands, cases, fmt::join(option_names(app), " "));
}

std::string fish_options(const CLI::App& app, const std::string& condition) {
  std::string text;
  for (const auto* option : app.get_options()) {
    std::string line = "complete -c gpusonde" + condition;
    for (const auto& name : option->get_snames()) line += " -s " + name;
    for (const auto& name : option->get_lnames()) line += " -l " + name;
    if (option->get_snames().empty() && option->get_lnames().empty()) continue;
    text += fmt::format("{} -d '{}'\n", line, quoted(option->get_description(), ""));
  }
  return text;
}

std::string fish(const CLI::App& app) {
  std::string text = "# fish completion for gpusonde\n" + fish_options(app, "");
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format("complete -c gpusonde -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(),
                        quoted(command->get_description(), ""));
    const auto seen = fmt::format(" -n '__fish_seen_subcommand_from {}'", command->get_name());
    for (const auto& name : command_names(*command)) text += fmt::format("complete -c gpusonde{} -a {}\n", seen, name);
    text += fish_options(*command, seen);
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("completion", "Shell completion: bash, zsh or fish");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->callback([&app, &context, shell] {
    context.action = [&app, shell] {
      if (*shell == "bash") return write_stdout(bash(app));
      if (*shell == "zsh") return write_stdout(zsh(app));
      if (*shell == "fish") return write_stdout(fish(app));
      return report_error({ErrorKind::usage, fmt::format("no completion for '{}'; choose bash, zsh or fish", *shell)});
    };
  });
}

}  // namespace gpusonde::cli
