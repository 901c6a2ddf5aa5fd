#include "cli/shell_completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string_view>

namespace dfrost::cli {
namespace {

// Each script walks the words before the cursor from command to command ("dfrost bench step"), and then
// offers what that one has. It runs nothing, so that a shell does not wait for it.

// A word of a shell, whatever is in it. Within quotes bash and zsh know no escapes; fish knows two.
std::string quoted(std::string_view text, std::string_view quote_within) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += quote_within;
    } else {
      result += c;
    }
  }
  return result + "'";
}
std::string posix_quoted(std::string_view text) { return quoted(text, "'\\''"); }
std::string fish_quoted(std::string_view text) { return quoted(text, "\\'"); }

std::vector<std::string> option_names(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const auto& inner : command.commands) names.push_back(inner.name);
  return names;
}

// Calls visit(words before the value, option) for each option that takes one of a list, by each of its names.
void for_each_choice(const CommandEntry& root,
                     const std::function<void(const std::string&, const OptionEntry&)>& visit) {
  for (const auto* command : all_commands(root)) {
    for (const auto& option : command->options) {
      if (option.choices.empty()) continue;
      for (const auto& name : option.names) visit(command->path + " " + name, option);
    }
  }
}

// Those of a command's first positional, where only some words are taken.
std::vector<std::string> first_words(const CommandEntry& command) {
  return command.positionals.empty() ? command_names(command) : command.positionals.front().choices;
}

// "'dfrost run' 'dfrost bench'", with something between: all but the root.
std::string paths(const CommandEntry& root, std::string_view between) {
  std::vector<std::string> found;
  for (const auto* command : all_commands(root)) {
    if (command != &root) found.push_back(posix_quoted(command->path));
  }
  return fmt::format("{}", fmt::join(found, between));
}

// "'run:Run a whole federation'": a colon ends the name.
std::string zsh_entry(const std::string& name, const std::string& description) {
  return posix_quoted(name + ":" + description);
}

}  // namespace

std::string bash_completion(const CommandEntry& root) {
  std::string text = fmt::format(
      "# bash completion for dfrost, made by 'dfrost completion bash'\n"
      "_dfrost() {{\n"
      "  local path=dfrost words= options= word=\"${{COMP_WORDS[COMP_CWORD]}}\" i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$path ${{COMP_WORDS[i]}}\" in\n"
      "      {}) path=\"$path ${{COMP_WORDS[i]}}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$path ${{COMP_WORDS[COMP_CWORD - 1]}}\" in\n",
      paths(root, "|"));
  for_each_choice(root, [&](const std::string& before, const OptionEntry& option) {
    text += fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\"); return ;;\n",
                        posix_quoted(before), fmt::join(option.choices, " "));
  });
  text += "  esac\n  case \"$path\" in\n";
  for (const auto* command : all_commands(root)) {
    text +=
        fmt::format("    {})\n      words='{}'\n      options='{}'\n      ;;\n", posix_quoted(command->path),
                    fmt::join(first_words(*command), " "), fmt::join(option_names(*command), " "));
  }
  return text +
         "  esac\n"
         "  if [[ $word == -* ]]; then words=$options; fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\n"
         "complete -o bashdefault -o default -F _dfrost dfrost\n";
}

std::string zsh_completion(const CommandEntry& root) {
  std::string text = fmt::format(
      "#compdef dfrost\n"
      "# zsh completion for dfrost, made by 'dfrost completion zsh'\n"
      "_dfrost() {{\n"
      "  local command=dfrost i\n"
      "  local -a entries options\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$command $words[i]\" in\n"
      "      ({}) command+=\" $words[i]\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command $words[CURRENT-1]\" in\n",
      paths(root, "|"));
  for_each_choice(root, [&](const std::string& before, const OptionEntry& option) {
    text += fmt::format("    ({}) compadd -- {}; return ;;\n", posix_quoted(before),
                        fmt::join(option.choices, " "));
  });
  text += "  esac\n  case \"$command\" in\n";
  for (const auto* command : all_commands(root)) {
    text += fmt::format("    ({})\n      entries=(", posix_quoted(command->path));
    for (const auto& inner : command->commands)
      text += "\n        " + zsh_entry(inner.name, inner.description);
    if (command->commands.empty()) text += fmt::format("{}", fmt::join(first_words(*command), " "));
    text += ")\n      options=(";
    for (const auto& option : command->options) {
      for (const auto& name : option.names) text += "\n        " + zsh_entry(name, option.description);
    }
    text += ")\n      ;;\n";
  }
  return text +
         "  esac\n"
         "  if [[ $words[CURRENT] == -* ]]; then\n"
         "    _describe -o option options\n"
         "  elif (( $#entries )); then\n"
         "    _describe command entries\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "if [[ $funcstack[1] == _dfrost ]]; then _dfrost \"$@\"; else compdef _dfrost dfrost; fi\n";
}

std::string fish_completion(const CommandEntry& root) {
  std::string text = fmt::format(
      "# fish completion for dfrost, made by 'dfrost completion fish'\n"
      "function __dfrost_is\n"
      "  set -l command dfrost\n"
      "  for word in (commandline -opc)\n"
      "    switch \"$command $word\"\n"
      "      case {}\n"
      "        set command \"$command $word\"\n"
      "    end\n"
      "  end\n"
      "  test \"$command\" = \"$argv\"\n"
      "end\n",
      paths(root, " "));
  for (const auto* command : all_commands(root)) {
    const auto start = fmt::format("complete -c dfrost -n '__dfrost_is {}'", command->path);
    for (const auto& inner : command->commands)
      text += fmt::format("{} -f -a {} -d {}\n", start, inner.name, fish_quoted(inner.description));
    if (command->commands.empty() && !first_words(*command).empty())
      text += fmt::format("{} -f -a '{}'\n", start, fmt::join(first_words(*command), " "));
    for (const auto& option : command->options) {
      std::string line = start;
      for (const auto& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty()) {
        line += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      } else if (!option.value.empty()) {
        line += " -r";
      }
      text += line + " -d " + fish_quoted(option.description) + "\n";
    }
  }
  return text;
}

}  // namespace dfrost::cli
