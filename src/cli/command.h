// What the subcommands share: how one is declared, how results and errors are shown.
// A subcommand lives in its own file, declares itself on the CLI11 app in `add_…`, and throws dfrost::Error.
// stdout carries results only; everything else goes to stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost::cli {

// Exit codes: 0 ok, 1 the run failed, 2 usage or config, 3 input file, 4 network.
int exit_code(const std::exception& error);

// On stderr, as far as that can be written to: who closed it or let it fill up must not end a run by it.
void tell(std::string_view text);

// "warning: what / hint: what to do about it" on stderr; the hint may be empty.
void tell_warning(std::string_view what, std::string_view hint);

// "error: what / at: where / hint: what to do next" on stderr.
void print_error(const std::exception& error);

// A subcommand with a one-line description and examples, one per line, that --help shows first.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples);

// Declares --json on a subcommand that prints results.
void add_json_flag(CLI::App& command, bool& json);

// Declares --set section.key=value on a subcommand that takes an experiment file.
void add_set_option(CLI::App& command, std::vector<std::string>& overrides);

// Lets an option take several values in one word with commas between; `form` is how --help shows them.
void take_comma_list(CLI::Option& option, const std::string& form);

// One JSON document on stdout.
void print_json(const nlohmann::ordered_json& document);

// Parses and runs a whole command line; returns the exit code. Nothing escapes.
int run(CLI::App& app, int argc, const char* const* argv);

// The commands, each in the file of its name.
void add_backbone_commands(CLI::App& app);
void add_backbone_inspect_command(CLI::App& backbone);
void add_backbone_moments_command(CLI::App& backbone);
void add_backbone_probe_command(CLI::App& backbone);
void add_backbone_get_command(CLI::App& backbone);
void add_barycenter_command(CLI::App& app);
void add_bench_commands(CLI::App& app);
void add_bench_federation_command(CLI::App& bench);
void add_bench_merge_command(CLI::App& bench);
void add_bench_data_command(CLI::App& bench);
void add_bench_step_command(CLI::App& bench);
void add_bench_wire_command(CLI::App& bench);
void add_bench_privacy_command(CLI::App& bench);
void add_classify_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_completion_command(CLI::App& app);
void add_config_commands(CLI::App& app);
void add_distance_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_eval_command(CLI::App& app);
void add_federation_change_commands(CLI::App& federation);
void add_federation_commands(CLI::App& app);
void add_federation_create_command(CLI::App& federation);
void add_man_command(CLI::App& app);
void add_merge_command(CLI::App& app);
void add_data_commands(CLI::App& app);
void add_data_get_command(CLI::App& data);
void add_partition_commands(CLI::App& app);
void add_peer_check_command(CLI::App& peer);
void add_peer_start_command(CLI::App& peer);
void add_peer_status_command(CLI::App& peer);
void add_federation_try_command(CLI::App& federation);
void add_replay_command(CLI::App& app);
void add_peer_commands(CLI::App& app);
void add_report_command(CLI::App& app);
void add_paper_commands(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_study_command(CLI::App& app);
void add_topology_commands(CLI::App& app);
void add_watch_command(CLI::App& app);

}  // namespace dfrost::cli
