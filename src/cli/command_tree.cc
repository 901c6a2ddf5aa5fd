#include "cli/command_tree.h"

namespace dfrost::cli {
namespace {

// "TEXT:{any,package}" is how the parser writes what it takes only these of.
void read_type(const std::string& type, OptionEntry& entry) {
  entry.value = type.substr(0, type.find(':'));
  const auto open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return;
  entry.choices = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

OptionEntry describe_option(const CLI::Option& option) {
  OptionEntry entry;
  if (option.nonpositional()) {
    for (const auto& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) entry.names.push_back("--" + name);
  } else {
    entry.names.push_back(option.get_name());
  }
  if (option.get_type_size() != 0) read_type(option.get_type_name(), entry);
  entry.preset = option.get_default_str();
  entry.description = option.get_description();
  entry.required = option.get_required();
  entry.repeats = option.get_expected_max() > 1;
  return entry;
}

CommandEntry describe(const CLI::App& app, const std::string& above) {
  CommandEntry entry{.path = above + app.get_name(),
                     .name = app.get_name(),
                     .description = app.get_description(),
                     .examples = app.get_footer(),
                     .options = {},
                     .positionals = {},
                     .commands = {}};
  for (const auto* option : app.get_options([](const CLI::Option*) { return true; })) {
    auto& list = option->nonpositional() ? entry.options : entry.positionals;
    list.push_back(describe_option(*option));
  }
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    entry.commands.push_back(describe(*command, entry.path + " "));
  return entry;
}

void append_all(const CommandEntry& root, std::vector<const CommandEntry*>& found) {
  found.push_back(&root);
  for (const auto& command : root.commands) append_all(command, found);
}

}  // namespace

CommandEntry describe_commands(const CLI::App& app) { return describe(app, ""); }

std::vector<const CommandEntry*> all_commands(const CommandEntry& root) {
  std::vector<const CommandEntry*> found;
  append_all(root, found);
  return found;
}

}  // namespace dfrost::cli
