// `dfrost study`: an experiment of experiments, run as far as it is missing, and its tables and page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/command.h"
#include "cli/study_output.h"
#include "cli/study_start.h"
#include "cli/terminal.h"
#include "dfrost/error.h"
#include "study/study_needs.h"
#include "study/study_text.h"

namespace dfrost::cli {
namespace {

struct StudyArguments {
  std::string study;
  StudyChoice choice;
  std::string runs;  // empty: runs/NAME
  std::string out;   // empty: studies/NAME-SCALE
  StudyStart start;
  bool list = false;
  bool dry_run = false;
  bool quiet = false;
  bool json = false;
};

// What makes all of it again, to be pasted into a shell.
std::string study_line(const StudyArguments& arguments) {
  std::string line = fmt::format("dfrost study {}", shell_word(arguments.study));
  if (!arguments.choice.scale.empty()) line += fmt::format(" --scale {}", shell_word(arguments.choice.scale));
  if (!arguments.choice.seeds.empty())
    line += fmt::format(" --seeds {}", fmt::join(arguments.choice.seeds, ","));
  for (const auto& change : arguments.choice.overrides) line += fmt::format(" --set {}", shell_word(change));
  return line;
}

struct ListedRun {
  const PlannedRun* run = nullptr;
  std::string label;
  RunState state = RunState::missing;
  std::optional<double> seconds;  // it would take
};

std::vector<ListedRun> list_runs(const Study& study, const StudyPlan& plan, const std::filesystem::path& runs,
                                 const KeptResults& kept, bool measure) {
  const auto labels = run_labels(study, plan);
  std::vector<ListedRun> listed;
  StudyRates rates;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const auto& run = plan.runs[i];
    const RunState state = state_of(run, study, runs, kept);
    const bool counts = measure && state != RunState::done;
    listed.push_back({&run, labels[i], state, counts ? rates.seconds_of(run.config) : std::nullopt});
  }
  return listed;
}

void print_list_json(const Study& study, const StudyPlan& plan, const std::vector<ListedRun>& listed) {
  nlohmann::ordered_json json = {{"study", study.name},
                                 {"scale", plan.scale},
                                 {"scale_words", plan.scale_words},
                                 {"seeds", plan.seeds},
                                 {"missing", missing_for(plan)}};
  json["runs"] = nlohmann::ordered_json::array();
  for (const auto& one : listed) {
    nlohmann::ordered_json run = {
        {"label", one.label}, {"folder", one.run->folder}, {"state", to_string(one.state)}};
    run["seconds"] = one.seconds ? nlohmann::ordered_json(*one.seconds) : nlohmann::ordered_json();
    json["runs"].push_back(std::move(run));
  }
  print_json(json);
}

void print_list(const Study& study, const StudyPlan& plan, const std::vector<ListedRun>& listed,
                bool measured) {
  fmt::print("{}\n", study.title);
  if (!plan.scale.empty()) fmt::print("scale {}: {}\n", plan.scale, plan.scale_words);
  double left = 0;
  std::size_t done = 0;
  bool known = true;
  for (const auto& one : listed) {
    const bool is_done = one.state == RunState::done;
    const auto time = is_done || !measured ? std::string()
                      : one.seconds        ? ", about " + duration(*one.seconds)
                                           : ", time unknown";
    fmt::print("  {:<8} {}{}\n", to_string(one.state), one.label, time);
    done += is_done ? 1 : 0;
    left += one.seconds.value_or(0);
    known = known && (is_done || one.seconds);
  }
  fmt::print("{} of {} runs are done", done, listed.size());
  if (measured && done < listed.size())
    fmt::print("; the others take {}",
               known ? "about " + duration(left) + " on this machine" : "a time that is not known");
  fmt::print("\n");
  for (const auto& what : missing_for(plan)) fmt::print("not here: {}\n", what);
}

void print_results(const StudyResults& results, const std::filesystem::path& out) {
  fmt::print("{}", study_markdown(results));
  fmt::print("page {}\n", (out / kStudyPage).string());
}

std::filesystem::path folder_of_page(const StudyArguments& arguments, const Study& study,
                                     const StudyPlan& plan) {
  if (!arguments.out.empty()) return arguments.out;
  return std::filesystem::path("studies") / (plan.scale.empty() ? study.name : study.name + "-" + plan.scale);
}

void study(const StudyArguments& arguments) {
  if (arguments.study.empty())
    throw Error(ErrorCode::invalid_argument, "no study is named",
                "give its TOML file, such as 'dfrost study merges.toml'");
  const Study study = load_study(arguments.study);
  const StudyPlan plan = plan_study(study, arguments.choice);
  const std::filesystem::path runs = arguments.runs.empty() ? std::filesystem::path("runs") / study.name
                                                            : std::filesystem::path(arguments.runs);
  const auto out = folder_of_page(arguments, study, plan);
  const auto kept = take_up(arguments.start, {out / kStudyResults}, plan);
  if (arguments.list || arguments.dry_run) {
    const auto listed = list_runs(study, plan, runs, kept, arguments.list);
    return arguments.json ? print_list_json(study, plan, listed)
                          : print_list(study, plan, listed, arguments.list);
  }
  run_planned(plan, run_labels(study, plan), kept, runs_to_do(study, plan, runs, kept), runs, arguments.start,
              arguments.quiet || arguments.json, [&](const StudyOutcome& outcome) {
                const auto results =
                    collect_results(study, plan, runs, kept, outcome.failures, study_line(arguments));
                write_study(std::span(&results, 1), study.title, out);
                if (arguments.json)
                  print_json(to_json(results));
                else
                  print_results(results, out);
              });
}

struct PageArguments {
  std::vector<std::string> files;
  std::string out;
};

void make_page(const PageArguments& arguments) {
  std::vector<StudyResults> results;
  for (const auto& file : arguments.files) results.push_back(read_results(file));
  const std::filesystem::path out = arguments.out.empty()
                                        ? std::filesystem::path(arguments.files.front()).parent_path()
                                        : std::filesystem::path(arguments.out);
  write_study(results, results.size() == 1 ? results.front().study.title : "Studies",
              out.empty() ? "." : out);
  fmt::print("wrote {}\n", (out / kStudyPage).string());
}

}  // namespace

void add_study_command(CLI::App& app) {
  auto* command = add_command(
      app, "study", "Run an experiment of experiments, and make its tables, figures and page.",
      {"dfrost study merges.toml --list          its runs, what they need, how long they take here",
       "dfrost study merges.toml                 run what is missing; stopped or killed, the same again goes "
       "on",
       "dfrost study page studies/merges/results.json    page and tables again, from the results alone"});
  auto arguments = std::make_shared<StudyArguments>();
  command->add_option("study", arguments->study, "Its TOML file, or the name of one that comes with dfrost");
  command->add_option("--scale", arguments->choice.scale, "One of the study's scales; its first by default");
  take_comma_list(*command->add_option("--seeds", arguments->choice.seeds, "Instead of those of the study"),
                  "SEED,…");
  add_set_option(*command, arguments->choice.overrides);
  command->add_option("--runs", arguments->runs,
                      "The folder that run folders are made in; runs/NAME by default");
  command->add_option("--out", arguments->out,
                      "The folder of tables and page; studies/NAME by default, with the scale behind it");
  add_start_options(*command, arguments->start);
  command->add_flag("--list", arguments->list,
                    "Run nothing: show the runs, what is missing here, and how long they would take");
  command->add_flag("--dry-run", arguments->dry_run, "Run nothing and measure nothing: show the runs");
  command->add_flag("--quiet", arguments->quiet, "Show nothing while it runs");
  add_json_flag(*command, arguments->json);
  command->require_subcommand(0, 1);
  auto* page = add_command(*command, "page", "Page and tables again, from results alone.",
                           {"dfrost study page docs/results/*.json --out pages"});
  auto given = std::make_shared<PageArguments>();
  page->add_option("results", given->files, "Files results.json")->required();
  page->add_option("--out", given->out, "The folder to write into; that of the first file by default");
  page->callback([given] { make_page(*given); });
  command->callback([arguments, page] {
    if (!page->parsed()) study(*arguments);
  });
}

}  // namespace dfrost::cli
