#include "cli/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/version.h"

namespace dfrost::cli {
namespace {

// Text as it is: a backslash would begin an escape, a plain '-' may be set as a hyphen that no one can copy,
// and a line that begins with a dot or a quote would be a request.
std::string escaped(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_begins = c == '\n';
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string examples_of(const CommandEntry& command) {
  return command.examples.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(command.examples));
}

// "dfrost export [OPTIONS] [run]".
std::string usage(const CommandEntry& command) {
  std::string text = bold(command.path);
  if (!command.options.empty()) text += " [" + italic("OPTIONS") + "]";
  if (!command.commands.empty()) text += " " + italic("COMMAND");
  for (const auto& positional : command.positionals) {
    const std::string name = italic(positional.names.front()) + (positional.repeats ? "..." : "");
    text += positional.required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string entry(const OptionEntry& option, bool positional) {
  std::vector<std::string> names;
  for (const auto& name : option.names) names.push_back(positional ? italic(name) : bold(name));
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!option.choices.empty()) {
    text += " " + escaped(fmt::format("{}", fmt::join(option.choices, "|")));
  } else if (!option.value.empty() && !positional) {
    text += " " + italic(option.value);
  }
  text += "\n" + escaped(option.description);
  if (!option.preset.empty() && !option.value.empty()) text += escaped(" [" + option.preset + "]");
  return text + "\n";
}

std::string section(const CommandEntry& command) {
  std::string text = fmt::format(".SS {}\n{}\n.PP\n{}\n{}", bold(command.path), escaped(command.description),
                                 usage(command), examples_of(command));
  for (const auto& positional : command.positionals) text += entry(positional, true);
  for (const auto& option : command.options) {
    if (option.names.back() != "--help") text += entry(option, false);
  }
  return text;
}

}  // namespace

std::string man_page(const CommandEntry& root) {
  std::string text = fmt::format(
      ".TH DFROST 1 \"\" \"dfrost {}\" \"User Commands\"\n.SH NAME\ndfrost \\- decentralized federated "
      "prompt "
      "tuning\n.SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n.SH EXAMPLES\n{}.SH OPTIONS\n",
      version(), usage(root), escaped(root.description), examples_of(root));
  for (const auto& option : root.options) text += entry(option, false);
  text += ".SH COMMANDS\nEach has " + bold("--help") + ".\n";
  for (const auto& command : root.commands) {
    for (const auto* each : all_commands(command)) text += section(*each);
  }
  return text +
         ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nit failed\n.TP\n2\na wrong option or setting\n"
         ".TP\n3\na file that is missing or wrong\n.TP\n4\nthe network\n"
         ".SH ENVIRONMENT\n.TP\n\\fBDFROST_BACKBONES\\fR\nwhere backbones are looked for by name, before "
         "those "
         "that come with dfrost\n.TP\n\\fBDFROST_DATA\\fR\nwhere data sets lie and are fetched to\n";
}

}  // namespace dfrost::cli
