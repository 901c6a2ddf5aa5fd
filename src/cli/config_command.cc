#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "config/presets.h"
#include "config/reference.h"
#include "config/toml_file.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

struct InitArguments {
  std::string experiment = "demo";
  std::string method;  // empty: the experiment's own
  std::string out;
  bool force = false;
};

struct ConfigShowArguments {
  std::string file;
  std::vector<std::string> overrides;
  bool json = false;
};

struct ExplainArguments {
  std::string key;
  bool json = false;
  bool markdown = false;
};

std::string starter_file(const ExperimentPreset& preset, const std::string& method) {
  return fmt::format(
             "# An experiment for dfrost: {}.\n"
             "# Lines that begin with #key are defaults, of the method where it has its own. More on each:\n"
             "#   dfrost config explain KEY\n\n",
             preset.summary) +
         to_toml(with_method(preset, method), TomlStyle::starter);
}

void init(const InitArguments& arguments) {
  const auto& preset = experiment_preset(arguments.experiment);
  const std::string text =
      starter_file(preset, arguments.method.empty() ? preset.config.method.name : arguments.method);
  const std::string out = arguments.out.empty() ? arguments.experiment + ".toml" : arguments.out;
  if (out == "-") {
    fmt::print("{}", text);
    return;
  }
  if (std::filesystem::exists(out) && !arguments.force) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is already there", out),
                "name another file with --out, or replace it with --force");
  }
  write_file_atomically(out, text);
  fmt::print("wrote {}\n", out);
}

void show_config(const ConfigShowArguments& arguments) {
  const RunConfig config = load_config(arguments.file, arguments.overrides);
  if (arguments.json) return print_json(to_json(config));
  fmt::print("{}", to_toml(config));
}

// The keys that a word means: all, those of a section, the one of that full name, or all that end in it.
std::vector<const ConfigKey*> keys_named(const std::string& word) {
  std::vector<const ConfigKey*> found;
  std::vector<std::string> names;
  for (const auto& key : config_keys()) {
    if (word.empty() || word == key.section || word == key.full_name()) found.push_back(&key);
    names.push_back(key.full_name());
  }
  if (!found.empty()) return found;
  for (const auto& key : config_keys()) {
    if (word == key.name) found.push_back(&key);
    names.push_back(key.name);
  }
  if (!found.empty()) return found;
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no key {}", quote_name(word)),
              did_you_mean(word, names, "see all with 'dfrost config explain'"));
}

void print_lists(const std::vector<const ConfigKey*>& keys) {
  std::string section;
  for (const auto* key : keys) {
    if (section != key->section) fmt::print("{}[{}]\n", section.empty() ? "" : "\n", key->section);
    section = key->section;
    fmt::print("  {:<20} {}\n", key->name, key->comment);
  }
}

void explain(const ExplainArguments& arguments) {
  if (arguments.markdown) {
    fmt::print("{}", config_reference_page());
    return;
  }
  const auto keys = keys_named(arguments.key);
  if (arguments.json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto* key : keys) list.push_back(explain_key_json(*key));
    return print_json(list);
  }
  const bool asked_for_one =
      keys.front()->name == arguments.key || keys.front()->full_name() == arguments.key;
  if (!asked_for_one) return print_lists(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) fmt::print("{}{}", i == 0 ? "" : "\n", explain_key(*keys[i]));
}

void add_init_command(CLI::App& config) {
  auto* command =
      add_command(config, "init", "Write a commented experiment file to start from.",
                  {"dfrost config init demo                         three small domains, 30 clients",
                   "dfrost config init five --method dfedavgm       the paper's setting, another method",
                   "dfrost config init mine --out flowers.toml      pictures of your own"});
  auto arguments = std::make_shared<InitArguments>();
  command->add_option("experiment", arguments->experiment, "five, four, demo, pfpt, pfpt-explosion or mine")
      ->capture_default_str();
  command->add_option("--method", arguments->method, "What method.name is to be [the experiment's own]");
  command->add_option("--out", arguments->out, "The file to write; - is stdout [EXPERIMENT.toml]");
  command->add_flag("--force", arguments->force, "Replace a file that is already there");
  command->callback([arguments] { init(*arguments); });
}

void add_config_show_command(CLI::App& config) {
  auto* command =
      add_command(config, "show", "Check an experiment file and print all that it stands for.",
                  {"dfrost config show demo.toml                              every key, resolved",
                   "dfrost config show demo.toml --set method.name=d-psgd     with a key changed"});
  auto arguments = std::make_shared<ConfigShowArguments>();
  command->add_option("file", arguments->file, "The experiment's TOML file")->required();
  add_set_option(*command, arguments->overrides);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { show_config(*arguments); });
}

void add_explain_command(CLI::App& config) {
  auto* command = add_command(
      config, "explain", "What the keys of an experiment file mean.",
      {"dfrost config explain                  all keys, a line each",
       "dfrost config explain merge            those of a section",
       "dfrost config explain merge.epsilon    one, with its default and where the paper says it"});
  auto arguments = std::make_shared<ExplainArguments>();
  command->add_option("key", arguments->key, "A key, with or without its section, or a section");
  command->add_flag("--markdown", arguments->markdown, "Print the reference page");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { explain(*arguments); });
}

}  // namespace

void add_config_commands(CLI::App& app) {
  auto* config = add_command(app, "config", "Write, check and explain experiment files.",
                             {"dfrost config init demo               a file to start from",
                              "dfrost config explain train.mask      what a key means"});
  config->require_subcommand(1);
  add_init_command(*config);
  add_config_show_command(*config);
  add_explain_command(*config);
}

}  // namespace dfrost::cli
