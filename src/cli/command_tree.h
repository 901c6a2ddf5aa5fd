// What the commands say of themselves, as plain values: read off the parser's own tree, so that the manual
// and what shells complete cannot differ from what is parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dfrost::cli {

struct OptionEntry {
  std::vector<std::string> names;    // "-h", "--help"; of a positional its one name, "run"
  std::string value;                 // what it takes: "TEXT", "UINT"; empty for a flag
  std::string preset;                // what it is where it is not given; may be empty
  std::vector<std::string> choices;  // where only these are taken
  std::string description;
  bool required = false;
  bool repeats = false;  // takes several values
};

struct CommandEntry {
  std::string path;  // "dfrost bench step"
  std::string name;  // "step"
  std::string description;
  std::string examples;  // line by line, as --help shows them
  std::vector<OptionEntry> options;
  std::vector<OptionEntry> positionals;
  std::vector<CommandEntry> commands;
};

// In the order in which they were declared.
CommandEntry describe_commands(const CLI::App& app);

// The command and all below it, each before its own.
std::vector<const CommandEntry*> all_commands(const CommandEntry& root);

}  // namespace dfrost::cli
