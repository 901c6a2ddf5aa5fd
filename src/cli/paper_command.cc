// `dfrost paper`: the tables and figures of the D-FROST paper, each a study that comes with dfrost.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/study_output.h"
#include "cli/study_ranks.h"
#include "cli/study_start.h"
#include "cli/terminal.h"
#include "dfrost/error.h"
#include "study/shipped_studies.h"
#include "study/study_needs.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPaperTitle = "D-FROST: the paper's tables and figures, made again";

struct PaperArguments {
  std::vector<std::string> items;  // none: all
  StudyChoice choice;
  std::string runs = "runs/paper";
  std::string out;  // empty: studies/paper-SCALE
  StudyStart start;
  bool quiet = false;
  bool json = false;
};

// In the order in which they are worth having: what is first is there when time runs out.
std::vector<std::string> paper_items() {
  static const std::vector<std::string> first = {
      "five",   "factorial", "topologies", "consensus", "cost",      "robustness", "consensus-factors",
      "budget", "plus",      "epsilon",    "explosion", "backbones", "four"};
  std::vector<std::string> shipped;
  for (const auto& name : shipped_studies("paper")) shipped.push_back(fs::path(name).filename());
  std::vector<std::string> items;
  for (const auto& name : first) {
    if (std::ranges::find(shipped, name) != shipped.end()) items.push_back(name);
  }
  for (const auto& name : shipped) {
    if (std::ranges::find(items, name) == items.end()) items.push_back(name);
  }
  return items;
}

struct Item {
  std::string id;
  Study study;
  StudyPlan plan;
};

// Those that are named, or all.
std::vector<std::string> chosen_ids(const PaperArguments& arguments) {
  const auto known = paper_items();
  for (const auto& id : arguments.items) {
    if (std::ranges::find(known, id) == known.end())
      throw Error(ErrorCode::invalid_argument, fmt::format("the paper has no item '{}'", id),
                  did_you_mean(id, known, fmt::format("there are {}", fmt::join(known, ", "))));
  }
  return arguments.items.empty() ? known : arguments.items;
}

std::vector<Item> chosen_items(const PaperArguments& arguments) {
  std::vector<Item> items;
  for (const auto& id : chosen_ids(arguments)) {
    Study study = load_study("paper/" + id);
    study.name = id;
    StudyPlan plan = plan_study(study, arguments.choice);
    items.push_back({id, std::move(study), std::move(plan)});
  }
  return items;
}

fs::path folder_of_pages(const PaperArguments& arguments, const std::string& scale) {
  return arguments.out.empty() ? fs::path("studies") / ("paper-" + scale) : fs::path(arguments.out);
}

std::string paper_line(const PaperArguments& arguments, const Item& item) {
  std::string line = fmt::format("dfrost paper run {} --scale {}", item.id, item.plan.scale);
  if (!arguments.choice.seeds.empty())
    line += fmt::format(" --seeds {}", fmt::join(arguments.choice.seeds, ","));
  for (const auto& change : arguments.choice.overrides) line += fmt::format(" --set {}", shell_word(change));
  return line;
}

// What an item takes at a scale: of the runs that are not done.
std::string time_of(const StudyPlan& plan, const fs::path& runs, StudyRates& rates,
                    nlohmann::ordered_json& json) {
  double seconds = 0;
  std::size_t left = 0;
  bool known = true;
  for (const auto& run : plan.runs) {
    if (state_of(run, runs) == RunState::done) continue;
    ++left;
    const auto time = rates.seconds_of(run.config);
    known = known && time;
    seconds += time.value_or(0);
  }
  json = {{"runs", plan.runs.size()}, {"left", left}, {"seconds", nullptr}, {"missing", missing_for(plan)}};
  if (known) json["seconds"] = seconds;
  if (left == 0) return "done";
  return fmt::format("{} runs, {}", left, known ? duration(seconds) : "time unknown");
}

void list_paper(const PaperArguments& arguments) {
  StudyRates rates;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& id : chosen_ids(arguments)) {
    const Study study = load_study("paper/" + id);
    nlohmann::ordered_json json = {{"id", id}, {"title", study.title}};
    if (!arguments.json) fmt::print("{:<18} {}\n", id, study.title);
    for (const auto& scale : study.scales) {
      const auto plan = plan_study(
          study,
          {.scale = scale.name, .seeds = arguments.choice.seeds, .overrides = arguments.choice.overrides});
      const auto time = time_of(plan, arguments.runs, rates, json["scales"][scale.name]);
      if (arguments.json) continue;
      const auto missing = missing_for(plan);
      fmt::print("  {:<16} {}{}\n", scale.name, time,
                 missing.empty() ? "" : fmt::format("; not here: {}", fmt::join(missing, ", ")));
    }
    all.push_back(std::move(json));
  }
  if (arguments.json) print_json(all);
}

// The runs of all items as one plan, each once, and what each is called.
StudyPlan together(const std::vector<Item>& items, std::vector<std::string>& labels) {
  StudyPlan all;
  std::map<std::string, std::size_t> places;
  for (const auto& item : items) {
    const auto own = run_labels(item.study, item.plan);
    for (std::size_t i = 0; i < item.plan.runs.size(); ++i) {
      if (!places.try_emplace(item.plan.runs[i].folder, all.runs.size()).second) continue;
      all.runs.push_back(item.plan.runs[i]);
      labels.push_back(fmt::format("{}: {}", item.id, own[i]));
    }
  }
  return all;
}

// Item by item, those first that are worth most; within one seed by seed. What one item takes from earlier
// results another may have to run, for other figures.
std::vector<std::size_t> to_do_of(const std::vector<Item>& items, const StudyPlan& all, const fs::path& runs,
                                  const KeptResults& kept) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < all.runs.size(); ++i) places[all.runs[i].folder] = i;
  std::vector<std::size_t> to_do;
  for (const auto& item : items) {
    for (const std::size_t own : runs_to_do(item.study, item.plan, runs, kept)) {
      const std::size_t run = places.at(item.plan.runs[own].folder);
      if (std::ranges::find(to_do, run) == to_do.end()) to_do.push_back(run);
    }
  }
  return to_do;
}

// What cannot be run here for want of data or a checkpoint is left out, and said.
void leave_out_what_is_not_here(std::vector<Item>& items, bool named) {
  std::erase_if(items, [&](const Item& item) {
    const auto missing = missing_for(item.plan);
    if (missing.empty() || named) return false;
    if (speaks_for_ranks())
      tell(fmt::format("note: {} is left out; not here: {}\n", item.id, fmt::join(missing, ", ")));
    return true;
  });
}

std::vector<StudyResults> results_in(const fs::path& folder) {
  std::vector<StudyResults> results;
  for (const auto& id : paper_items()) {
    const auto file = folder / (id + ".json");
    if (fs::exists(file)) results.push_back(read_results(file));
  }
  if (results.empty())
    throw Error(ErrorCode::not_found, fmt::format("{} holds no results of the paper", folder.string()),
                "make some by 'dfrost paper run'")
        .at(folder.string());
  return results;
}

void write_paper_page(const fs::path& folder, bool json) {
  const auto results = results_in(folder);
  write_study(results, kPaperTitle, folder);
  if (!json) return fmt::print("page {}\n", (folder / kStudyPage).string());
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& one : results) all.push_back(to_json(one));
  print_json(all);
}

void run_paper(const PaperArguments& arguments) {
  auto items = chosen_items(arguments);
  leave_out_what_is_not_here(items, !arguments.items.empty());
  if (items.empty())
    throw Error(ErrorCode::failed_precondition, "nothing of the paper can be run here",
                "'dfrost paper list' says what is missing");
  std::vector<std::string> labels;
  const auto all = together(items, labels);
  const auto folder = folder_of_pages(arguments, items.front().plan.scale);
  std::vector<fs::path> earlier;
  for (const auto& item : items) earlier.push_back(folder / (item.id + ".json"));
  const auto kept = take_up(arguments.start, earlier, all);
  const auto to_do = to_do_of(items, all, arguments.runs, kept);
  run_planned(all, labels, kept, to_do, arguments.runs, arguments.start, arguments.quiet || arguments.json,
              [&](const StudyOutcome& outcome) {
                fs::create_directories(folder);
                for (const auto& item : items) {
                  const auto results = collect_results(item.study, item.plan, arguments.runs, kept,
                                                       outcome.failures, paper_line(arguments, item));
                  write_file_atomically(folder / (item.id + ".json"), dump_json(to_json(results), 1) + "\n");
                }
                write_paper_page(folder, arguments.json);
              });
}

void add_choice(CLI::App& command, PaperArguments& arguments) {
  take_comma_list(*command.add_option("--seeds", arguments.choice.seeds, "Instead of those of the scale"),
                  "SEED,…");
  add_set_option(command, arguments.choice.overrides);
  command.add_option("--runs", arguments.runs, "The folder of runs, which all items share")
      ->capture_default_str();
  add_json_flag(command, arguments.json);
}

}  // namespace

void add_paper_commands(CLI::App& app) {
  auto* paper = add_command(
      app, "paper", "Every table and figure of the D-FROST paper, beside its numbers, its claims judged.",
      {"dfrost paper list", "dfrost paper run five factorial --scale minutes", "dfrost paper page"});
  paper->require_subcommand(1);
  auto* list = add_command(*paper, "list",
                           "What there is, what is missing here, and how long it takes on this machine.",
                           {"dfrost paper list", "dfrost paper list five factorial"});
  auto listed = std::make_shared<PaperArguments>();
  list->add_option("item", listed->items, "Some alone; all by default");
  add_choice(*list, *listed);
  list->callback([listed] { list_paper(*listed); });

  auto* run = add_command(*paper, "run", "Run what is missing of some items or all, and make the page.",
                          {"dfrost paper run five --scale minutes --seeds 1,2,3",
                           "dfrost paper run --scale hours     all that can be run here"});
  auto wanted = std::make_shared<PaperArguments>();
  wanted->choice.scale = "minutes";
  run->add_option("item", wanted->items, "As 'dfrost paper list' names them; all by default");
  run->add_option("--scale", wanted->choice.scale, "minutes, hours or full")->capture_default_str();
  run->add_option("--out", wanted->out, "The folder of results and page; studies/paper-SCALE by default");
  add_start_options(*run, wanted->start);
  run->add_flag("--quiet", wanted->quiet, "Show nothing while it runs");
  add_choice(*run, *wanted);
  run->callback([wanted] { run_paper(*wanted); });

  auto* page = add_command(*paper, "page", "The page again, from results alone.",
                           {"dfrost paper page --scale minutes"});
  auto made = std::make_shared<PaperArguments>();
  made->choice.scale = "minutes";
  page->add_option("--scale", made->choice.scale, "Of which scale")->capture_default_str();
  page->add_option("--out", made->out, "The folder of results and page; studies/paper-SCALE by default");
  add_json_flag(*page, made->json);
  page->callback([made] { write_paper_page(folder_of_pages(*made, made->choice.scale), made->json); });
}

}  // namespace dfrost::cli
