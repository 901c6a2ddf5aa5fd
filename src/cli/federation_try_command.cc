// `dfrost federation try`: a whole federation of real sites on this machine, to see it and to try a file
// before it is mailed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include "base/json.h"
#include "cli/backbone_path.h"
#include "cli/command.h"
#include "cli/report_files.h"
#include "cli/site_processes.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "peer/replay.h"
#include "peer/status.h"
#include "peer/trial.h"
#include "records/record.h"

namespace dfrost::cli {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t try_interrupted = 0;
void note_try_interrupt(int) { try_interrupted = 1; }

struct TryArguments {
  std::string config, out = "try";
  std::vector<std::string> overrides;
  std::size_t sites = 0, rounds = 0;
  bool kill = false, json = false;
};

class TryNotes final : public RunNotes {
 public:
  void on_note(const std::string&) override {}  // said by the sites
  void on_warning(const std::string& what, const std::string& hint) override { tell_warning(what, hint); }
};

// One that is killed and comes back, for the others to show that they go on.
struct Casualty {
  std::size_t number = 0;
  bool killed = false, back = false;
  std::uint64_t at_round = 0;
};

class Stage {
 public:
  Stage(const Trial& trial, bool with_kill)
      : trial_(trial), statuses_(trial.sites.size()), with_kill_(with_kill) {
    victim_.number = trial.sites.size() - 1;
    terminal_ = ::isatty(STDERR_FILENO) != 0;
  }

  // Until all sites have ended.
  void run();
  const std::vector<PeerStatus>& statuses() const { return statuses_; }
  SiteProcesses& processes() { return processes_; }

 private:
  void read_statuses();
  void play_casualty();
  void draw();
  void say(const std::string& text);
  std::string line_of(std::size_t number);

  const Trial& trial_;
  std::vector<PeerStatus> statuses_;
  SiteProcesses processes_;
  bool with_kill_, terminal_;
  Casualty victim_;
  std::size_t drawn_ = 0;
  std::uint64_t said_round_ = 0;
};

void Stage::say(const std::string& text) {
  if (drawn_ > 0) tell(fmt::format("\033[{}A\033[J", drawn_));
  drawn_ = 0;
  tell(text + "\n");
}

void Stage::read_statuses() {
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    try {
      statuses_[i] = read_status(trial_.sites[i] / "run");
    } catch (const Error&) {  // not there yet
    }
  }
}

// Killed once a round or two are done, started again once the others have gone on without it for two more.
void Stage::play_casualty() {
  if (!with_kill_ || victim_.back) return;
  const std::uint64_t rounds = trial_.config.run.rounds;
  std::uint64_t furthest = 0;
  for (std::size_t i = 0; i < statuses_.size(); ++i)
    if (i != victim_.number) furthest = std::max(furthest, statuses_[i].done);
  const std::string name = trial_.sites[victim_.number].filename().string();
  if (!victim_.killed) {
    if (statuses_[victim_.number].done < std::max<std::uint64_t>(1, rounds / 4)) return;
    processes_.kill(victim_.number);
    victim_.killed = true;
    victim_.at_round = furthest;
    say(fmt::format("{} is killed in round {} (kill -9): the others go on", name,
                    statuses_[victim_.number].round));
  } else if (furthest >= std::min(victim_.at_round + 3, rounds - 1)) {
    processes_.start(victim_.number, trial_.sites[victim_.number]);
    victim_.back = true;
    say(fmt::format("{} is started again; the others are in round {}", name, furthest + 1));
  }
}

std::string Stage::line_of(std::size_t number) {
  const PeerStatus& status = statuses_[number];
  const bool running = processes_.is_running(number);
  std::string line = fmt::format(
      "{} {:<8}  round {:>3}/{:<3}  {:<8}", running ? "●" : "○", trial_.sites[number].filename().string(),
      status.round, trial_.config.run.rounds, running || status.ended == "done" ? status.stage : "killed");
  if (status.accuracy) line += fmt::format("  accuracy {:>6.2f} %", 100 * *status.accuracy);
  if (running && !status.waiting_for.empty()) line += "  waiting for " + status.waiting_for;
  return line;
}

void Stage::draw() {
  if (!terminal_) {
    std::uint64_t least = trial_.config.run.rounds;
    for (const auto& status : statuses_) least = std::min(least, status.done);
    if (least > said_round_)
      tell(fmt::format("round {} of {} is done everywhere\n", least, trial_.config.run.rounds));
    said_round_ = std::max(said_round_, least);
    return;
  }
  std::string text = drawn_ > 0 ? fmt::format("\033[{}A\033[J", drawn_) : "";
  for (std::size_t i = 0; i < statuses_.size(); ++i) text += line_of(i) + "\n";
  tell(text);
  drawn_ = statuses_.size();
}

void Stage::run() {
  for (std::size_t i = 0; i < trial_.sites.size(); ++i) processes_.start(i, trial_.sites[i]);
  while (processes_.any_running() || (victim_.killed && !victim_.back)) {
    if (try_interrupted != 0)
      throw Error(ErrorCode::cancelled, "stopped; every site can be gone on with by 'dfrost peer start'");
    read_statuses();
    play_casualty();
    draw();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  read_statuses();
  draw();
}

// What a site that failed said last.
std::string last_words(const std::filesystem::path& site) {
  std::ifstream lines(site / "log.jsonl");
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("error:")) last = line;
  return last;
}

void require_all_done(const Trial& trial, Stage& stage) {
  for (std::size_t i = 0; i < trial.sites.size(); ++i)
    if (stage.processes().exit_code(i).value_or(0) != 0)
      throw Error(ErrorCode::failed_precondition,
                  fmt::format("{} ended before its last round: {}", trial.sites[i].filename().string(),
                              last_words(trial.sites[i])),
                  fmt::format("{} has all it said", (trial.sites[i] / "log.jsonl").string()));
}

void print_try_table(const Trial& trial, const std::vector<PeerStatus>& statuses,
                     const std::optional<Replay>& replay) {
  fmt::print("{:<8}  {:>6}  {:>9}  {:>8}  {:>7}  {:>9}  {:>8}  {}\n", "site", "rounds", "accuracy", "loss",
             "missed", "caught up", "MB sent", "replayed");
  for (std::size_t i = 0; i < trial.sites.size(); ++i) {
    const auto& status = statuses[i];
    ReplayedSite again;
    again.problem = "not with [privacy]";
    if (replay) again = replay->sites[i];
    fmt::print("{:<8}  {:>6}  {:>9}  {:>8}  {:>7}  {:>9}  {:>8.2f}  {}\n", status.name, status.done,
               status.accuracy ? fmt::format("{:.2f} %", 100 * *status.accuracy) : "-",
               status.train_loss ? fmt::format("{:.4f}", *status.train_loss) : "-",
               replay ? fmt::format("{}", again.missed) : "-",
               again.jumps + again.adoptions == 0 ? "-" : fmt::format("{}×", again.jumps + again.adoptions),
               static_cast<double>(status.sent_bytes) / 1e6, again.same ? "same bytes" : again.problem);
  }
}

void try_federation(const TryArguments& arguments) {
  RunConfig config = load_config(arguments.config, arguments.overrides);
  config.backbone.path = find_backbone(config.backbone.path.string());
  if (arguments.rounds != 0) config.run.rounds = arguments.rounds;
  const Trial trial = make_trial(config, {.sites = arguments.sites, .folder = arguments.out});
  for (const auto& change : trial.changes)
    tell(fmt::format("note: for {} sites: {}\n", trial.sites.size(), change));
  tell(fmt::format("{} sites in {}, each a process with its own key, linked by TLS on loopback\n",
                   trial.sites.size(), arguments.out));
  std::signal(SIGINT, note_try_interrupt);
  std::signal(SIGTERM, note_try_interrupt);
  Stage stage(trial, arguments.kill);
  const auto began = Clock::now();
  stage.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  require_all_done(trial, stage);
  TryNotes notes;
  // Real sites draw their noise from the system: what they did cannot be computed once more.
  std::optional<Replay> replay;
  if (config.privacy.kind == PrivacyKind::none) replay = replay_sites(trial.sites, notes);
  std::vector<std::string> runs;
  for (const auto& site : trial.sites) runs.push_back((site / "run").string());
  const auto page = std::filesystem::path(arguments.out) / kReportFile;
  write_report(read_runs(runs).records, page);
  if (arguments.json) {
    nlohmann::ordered_json sites = nlohmann::ordered_json::array();
    for (const auto& status : stage.statuses()) sites.push_back(to_json(status));
    const nlohmann::ordered_json same = replay ? nlohmann::ordered_json(replay->same()) : nullptr;
    print_json({{"same", same}, {"seconds", seconds}, {"report", page.string()}, {"sites", sites}});
  } else {
    print_try_table(trial, stage.statuses(), replay);
    fmt::print("time      {:.1f} s\nreport    {}\n", seconds, page.string());
  }
  if (replay && !replay->same())
    throw Error(ErrorCode::failed_precondition, "a site's state is not what its recorded letters lead to",
                fmt::format("see 'dfrost replay {}/site-*'", arguments.out));
}

}  // namespace

void add_federation_try_command(CLI::App& federation) {
  auto* command =
      add_command(federation, "try", "Run an experiment as real sites on this machine, a process each.",
                  {"dfrost federation try five.toml --sites 5              the sites are in try/",
                   "dfrost federation try demo.toml --sites 4 --rounds 12 --kill --out four"});
  auto arguments = std::make_shared<TryArguments>();
  command->add_option("config", arguments->config, "The experiment, as 'dfrost run' takes it")->required();
  command->add_option("--sites", arguments->sites, "How many [as many as the experiment has clients]");
  command->add_option("--out", arguments->out, "The folder that is made")->capture_default_str();
  command->add_option("--rounds", arguments->rounds, "Rounds [those of the experiment]");
  command->add_flag("--kill", arguments->kill, "Kill one of them on the way, and start it again later");
  add_set_option(*command, arguments->overrides);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { try_federation(*arguments); });
}

}  // namespace dfrost::cli
