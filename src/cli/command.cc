#include "cli/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/json.h"
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

// The parser would read "-1" into a count as 2^64 - 1.
void refuse_negative_counts(CLI::App& app) {
  const auto negative = [](const std::string& word) {
    return word.starts_with('-') ? fmt::format("{} is negative", word) : std::string();
  };
  for (auto* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_type_name().starts_with("UINT")) option->check(negative);
  }
  for (auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) refuse_negative_counts(*sub);
}

// Where the shell closed one of the three standard streams, the next file that is opened would take its
// place, and messages would end up in it. Nothing can be written to what stands there instead.
void keep_standard_streams_apart() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) ::open("/dev/null", O_RDONLY);
  }
}

// Results that did not arrive must not look like success.
void require_results_written() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const int reason = errno;
  if (flushed && std::cout.flush().good()) return;
  throw Error(ErrorCode::resource_exhausted,
              fmt::format("the results could not be written: {}",
                          reason != 0 ? std::strerror(reason) : "the output is closed or full"));
}

bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::length_error*>(&error) != nullptr;  // more than there can be
}

// An error may quote what a file holds, and a file may hold anything: a terminal gets a page of it at most.
std::string shortened(std::string_view text) {
  constexpr std::size_t kLongest = 4'000;
  return text.size() <= kLongest ? std::string(text) : std::string(text.substr(0, kLongest)) + " …";
}

}  // namespace

int exit_code(const std::exception& error) {
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr) return 3;
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

void tell(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void tell_warning(std::string_view what, std::string_view hint) {
  tell(fmt::format("warning: {}\n", what));
  if (!hint.empty()) tell(fmt::format("hint: {}\n", hint));
}

void print_error(const std::exception& error) {
  if (is_out_of_memory(error)) {
    tell("error: out of memory\n");
    return;
  }
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    tell(fmt::format("error: {}\nat: {}\n", file->code().message(),
                     file->path1().empty() ? "an empty path" : file->path1().string()));
    return;
  }
  std::string text = fmt::format("error: {}\n", shortened(error.what()));
  if (const auto* known = dynamic_cast<const Error*>(&error)) {
    if (!known->place().empty()) text += fmt::format("at: {}\n", shortened(known->place()));
    if (!known->hint().empty()) text += fmt::format("hint: {}\n", shortened(known->hint()));
  }
  tell(text);
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

void take_comma_list(CLI::Option& option, const std::string& form) {
  option.delimiter(',')->allow_extra_args(false)->option_text(form);
}

void print_json(const nlohmann::ordered_json& document) { fmt::print("{}\n", dump_json(document, 2)); }

int run(CLI::App& app, int argc, const char* const* argv) {
  keep_standard_streams_apart();
  app.formatter(std::make_shared<HelpFormatter>());
  refuse_negative_counts(app);
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) throw explain_parse_error(app, argc, argv, error);
      app.exit(error);  // --help and --version
    }
    require_results_written();
    return 0;
  } catch (const std::exception& error) {
    print_error(error);
    return exit_code(error);
  }
}

}  // namespace dfrost::cli
