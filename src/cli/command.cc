#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

// The description and the examples first, the option table after: what a newcomer reads is on top.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(34);
    label("SUBCOMMAND", "COMMAND");
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    std::string examples = app->get_footer();
    if (!examples.empty()) examples = "\nExamples:\n" + examples + "\n";
    return make_description(app) + examples + "\n" + make_usage(app, std::move(name)) +
           make_subcommands(app, mode) + make_positionals(app) + make_groups(app, mode);
  }
};

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto best = nearest(word, candidates);
  return best ? fmt::format("did you mean '{}'?", *best) : std::string();
}

// Walks the words as the parser did and names the first that it cannot have understood. CLI11's own message
// says at most that something was left over.
Error explain_parse_error(const CLI::App& root, int argc, const char* const* argv,
                          const CLI::ParseError& error) {
  const CLI::App* app = &root;
  std::string command = root.get_name();
  const auto see_help = [&] { return fmt::format("see '{} --help'", command); };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    if (word.size() > 1 && word[0] == '-') {
      const std::string name = word.substr(0, word.find('='));
      if (app->get_option_no_throw(name) != nullptr) continue;
      const bool looks_like_number = word.find_first_not_of("-+.0123456789eE") == std::string::npos;
      if (looks_like_number || (name[1] != '-' && name.size() > 2)) continue;
      auto hint = did_you_mean(name, option_names(*app));
      return {ErrorCode::invalid_argument, fmt::format("unknown option '{}' for '{}'", name, command),
              hint.empty() ? see_help() : hint};
    }
    const auto names = subcommand_names(*app);
    if (names.empty()) continue;  // a positional of the last subcommand
    if (std::find(names.begin(), names.end(), word) != names.end()) {
      app = app->get_subcommand(word);
      command += " " + word;
      continue;
    }
    auto hint = did_you_mean(word, names);
    return {ErrorCode::invalid_argument, fmt::format("unknown command '{}' for '{}'", word, command),
            hint.empty() ? see_help() : hint};
  }
  if (const auto names = subcommand_names(*app); !names.empty()) {
    return {ErrorCode::invalid_argument,
            fmt::format("'{}' needs a command: {}", command, fmt::join(names, ", ")), see_help()};
  }
  return {ErrorCode::invalid_argument, error.what(), see_help()};
}

}  // namespace

int exit_code(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  if (known == nullptr) return 1;
  switch (known->code()) {
    case ErrorCode::invalid_argument: return 2;
    case ErrorCode::not_found:
    case ErrorCode::permission_denied:
    case ErrorCode::unimplemented:
    case ErrorCode::data_loss: return 3;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded: return 4;
    default: return 1;
  }
}

void print_error(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    fmt::print(stderr, "error: out of memory\n");
    return;
  }
  fmt::print(stderr, "error: {}\n", error.what());
  const auto* known = dynamic_cast<const Error*>(&error);
  if (known == nullptr) return;
  if (!known->place().empty()) fmt::print(stderr, "at: {}\n", known->place());
  if (!known->hint().empty()) fmt::print(stderr, "hint: {}\n", known->hint());
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples) {
  auto* command = parent.add_subcommand(name, description);
  command->formatter(std::make_shared<HelpFormatter>());
  std::string lines;
  for (const auto& example : examples) lines += "  " + example + "\n";
  if (!lines.empty()) lines.pop_back();
  command->footer(lines);
  command->group("Commands");
  return command;
}

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON document instead of text");
}

void add_set_option(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "Change a key: section.key=value; may be given several times")
      ->allow_extra_args(false);
}

void print_json(const nlohmann::ordered_json& document) { fmt::print("{}\n", document.dump(2)); }

int run(CLI::App& app, int argc, const char* const* argv) {
  app.formatter(std::make_shared<HelpFormatter>());
  try {
    app.parse(argc, argv);
    std::fflush(stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    print_error(explain_parse_error(app, argc, argv, error));
    return 2;
  } catch (const std::exception& error) {
    print_error(error);
    return exit_code(error);
  }
}

}  // namespace dfrost::cli
