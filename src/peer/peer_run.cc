// The driver: what a site does from its first round to its last, in the order in which it does it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/stopwatch.h"
#include "base/version.h"
#include "config/settings_identity.h"
#include "dfrost/error.h"
#include "peer/patient_exchange.h"
#include "peer/peer.h"
#include "peer/rejoin.h"
#include "peer/reporter.h"
#include "peer/roster.h"
#include "peer/site_node.h"
#include "privacy/noise_source.h"
#include "records/record_file.h"
#include "run/federation_parts.h"
#include "run/mailbox_rules.h"
#include "run/result_fingerprint.h"
#include "run/resumption.h"
#include "run/run_files.h"
#include "run/run_log.h"
#include "run/write_adapters.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::milliseconds kTellProgressEvery{500};

double seconds_since(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

PeerStatus first_status(const PeerParts& parts, std::uint64_t rounds) {
  PeerStatus status;
  status.federation = parts.federation.name;
  status.version = version();
  status.number = parts.self;
  status.revision = status.revision_seen = parts.federation.revision;
  status.rounds = rounds;
  status.started = seconds_since_1970();
  for (const auto& member : parts.federation.members) {
    if (member.number == parts.self) {
      status.name = member.name;
      continue;
    }
    auto& other = status.members.emplace_back();
    other.number = member.number;
    other.name = member.name;
  }
  return status;
}

}  // namespace

struct PeerRun::Impl {
  // Notes go to the log and to who watches.
  class Notes final : public RunNotes {
   public:
    Notes(LogFile& log, PeerObserver& observer) : log_(log), observer_(observer) {}
    void on_note(const std::string& text) override {
      log_.write(text);
      observer_.on_note(text);
    }
    void on_warning(const std::string& what, const std::string& hint) override {
      log_.write(fmt::format("warning: {}; {}", what, hint));
      observer_.on_warning(what, hint);
    }

   private:
    LogFile& log_;
    PeerObserver& observer_;
  };

  Impl(const PeerParts& given, PeerOptions how, PeerObserver& watcher);

  void resume();
  PeerResult run(Exchange& below, Company& others);

  // Steps of a run, in their order.
  void wait_for_company();
  void wait_for_enough();
  void catch_up();
  void jump_to(std::uint64_t round);
  void adopt_from(std::uint64_t round);
  void do_round(std::uint64_t round);
  void finish();
  void go_through_rounds();
  void end(const char* how, const std::string& why);

  void end_round(const RoundArrivals& arrivals);
  void record_round(SiteNode::Outcome& outcome);
  void score(RoundRecord& record);
  void correct_reasons(RoundArrivals& arrivals) const;
  void count_missing(const RoundArrivals& arrivals);

  void set_stage(PeerStage stage, std::uint64_t round);
  void tell();
  void on_picture();
  void on_progress(const RoundProgress& progress);
  void while_waiting(std::span<const ClientId> missing);
  void note_letters(std::uint64_t round) const;
  void wait_until(const std::function<std::string()>& why_not_yet);
  void require_going_on() const;
  std::vector<PeerView> others() const { return company->members(); }
  std::optional<std::uint64_t> left_behind() const;

  PeerParts parts;
  PeerOptions options;
  PeerObserver& observer;
  LogFile log;
  Notes notes;
  Method method;
  Roster roster;
  RunId run_id;
  SiteNode node;
  std::uint64_t rounds = 0;  // the last one in which this member takes part
  std::uint64_t done = 0;
  bool has_state = false;  // of an earlier round
  std::string fingerprint;
  AdapterCard card;
  std::optional<RunFiles> files;
  std::optional<Saver> saver;
  std::optional<Reporter> reporter;
  std::optional<PatientExchange> exchange;
  Company* company = nullptr;

  std::atomic<std::uint64_t> progress = 0;
  std::atomic<Clock::rep> told_at = 0;
  std::atomic<PeerStage> stage = PeerStage::start;
  std::atomic<std::uint64_t> round_under_way = 0;
  Clock::time_point stage_began = Clock::now();
  Clock::time_point began = Clock::now();
  double round_seconds = 0;
  std::uint64_t rounds_here = 0;
};

PeerRun::Impl::Impl(const PeerParts& given, PeerOptions how, PeerObserver& watcher)
    : parts(given),
      options(std::move(how)),
      observer(watcher),
      log(given.folder / "run.log"),
      notes(log, watcher),
      method(make_method(given.config, NoiseOrigin::system)),
      roster(given.federation, method.network, given.config.run.seed),
      run_id(dfrost::run_id(given.config, given.backbone.precision())),
      node(given.config, method, given.backbone, given.preprocessing, given.pictures, given.self,
           [this] { on_picture(); }),
      rounds(roster.last_round(given.self, given.config.run.rounds)) {
  options.patience.validate();
  resume();
}

// Opens the run folder and takes the state of the last round that is done.
void PeerRun::Impl::resume() {
  const RunConfig& config = parts.config;
  fs::create_directories(parts.folder);
  remove_leftovers(parts.folder);
  log.open();
  const std::size_t nodes = parts.federation.nodes_in(1);
  const Topology topology(config.network.topology, std::max<std::size_t>(nodes, 1), config.run.seed);
  Partition own;  // what others hold does not decide what is computed here
  own.clients.push_back(parts.pictures.partition.clients[parts.self]);
  fingerprint = result_fingerprint(config, parts.weights, parts.backbone.precision(), parts.preprocessing,
                                   {parts.pictures.corpus, own, topology});
  RunTotals totals;
  std::optional<std::size_t> resumed_after;
  if (auto savepoint = savepoint_to_resume(parts.folder, notes)) {
    if (savepoint->fingerprint != fingerprint)
      throw Error(
          ErrorCode::failed_precondition, other_run(parts.folder, config, parts.backbone.precision()).what(),
          "put back what the site was started with, or move its folder 'run' away: it then begins with a "
          "neighbour's state")
          .at(parts.folder.string());
    node.restore(savepoint->nodes);
    totals = savepoint->totals;
    done = savepoint->round;
    resumed_after = done;
    has_state = true;
    notes.on_note(fmt::format("resumed after round {}", done));
  }
  if (last_spoken_round(parts.folder / "letters") == done + 1) node.charge_repeated_round();
  const auto arrivals = parts.folder / kArrivalsFile;
  tell_damage(arrivals, keep_rounds_until(arrivals, done), notes);
  files.emplace(config, RunFiles::Options{parts.folder, parts.federation.members.size(), true}, totals,
                notes);
  // A peer's letters are of no use to others unless what they came from is what it goes on from: every round
  // is saved, whatever run.checkpoint_every says of a simulation.
  saver.emplace(parts.folder / "checkpoints", fingerprint, 1, rounds, done);
  describe_run(config, parts.folder,
               about_json(config, node.participants(), parts.backbone, parts.family, options.command),
               resumed_after);
  card = adapter_card(config, parts.pictures.corpus, parts.backbone, parts.preprocessing, parts.weights);
  for (const auto& note : method.notes) notes.on_note(note);
}

void PeerRun::Impl::require_going_on() const {
  if (company != nullptr && company->has_twin())
    throw Error(ErrorCode::failed_precondition, "another process with this site's key is running",
                "stop it, or this one: a key is for one site, and a copy of its folder is the same site");
  if (options.stopped && options.stopped())
    throw Error(ErrorCode::cancelled,
                "stopped; 'dfrost peer start' goes on from the last round that is done");
}

void PeerRun::Impl::tell() {
  if (company == nullptr) return;
  told_at = Clock::now().time_since_epoch().count();
  company->tell({.round = round_under_way,
                 .phase = exchange ? exchange->moment().phase : 0,
                 .stage = static_cast<std::uint32_t>(stage.load()),
                 .progress = progress,
                 .revision = parts.federation.revision});
}

void PeerRun::Impl::set_stage(PeerStage next, std::uint64_t round) {
  const double seconds = seconds_since(stage_began);
  const std::string before(to_string(stage.load()));
  stage_began = Clock::now();
  stage = next;
  round_under_way = round;
  ++progress;
  if (reporter)
    reporter->change([&](PeerStatus& status) {
      status.stage_seconds[before] += seconds;
      status.stage = to_string(next);
      status.progress = progress;
      status.round = round;
      status.done = done;
    });
  tell();
}

// From any thread that works.
void PeerRun::Impl::on_picture() {
  ++progress;
  const auto last = Clock::time_point(Clock::duration(told_at.load()));
  if (Clock::now() - last < kTellProgressEvery) return;
  tell();
  reporter->change([&](PeerStatus& status) { status.progress = progress; });
  require_going_on();
}

void PeerRun::Impl::on_progress(const RoundProgress& now) {
  if (now.done != 0) return;
  set_stage(now.stage == "train" ? PeerStage::train : PeerStage::exchange, round_under_way);
  require_going_on();
}

void PeerRun::Impl::while_waiting(std::span<const ClientId> missing) {
  ++progress;
  const auto last = Clock::time_point(Clock::duration(told_at.load()));
  if (Clock::now() - last > kTellProgressEvery) tell();
  if (missing.empty() && stage == PeerStage::exchange) set_stage(PeerStage::merge, round_under_way);
  std::vector<std::string> names;
  for (const ClientId peer : missing) names.push_back(roster.name(peer));
  reporter->change([&](PeerStatus& status) {
    status.waiting_for = fmt::format("{}", fmt::join(names, ", "));
    status.progress = progress;
    for (auto& member : status.members) {
      member.awaited = std::ranges::find(missing, member.number) != missing.end();
      member.usual_seconds = exchange->usual_seconds(member.number);
    }
  });
  if (!missing.empty()) require_going_on();
}

void PeerRun::Impl::note_letters(std::uint64_t round) const {
  if (round > done) note_speaking(parts.folder / "letters", round);  // those of earlier ones are sent again
}

// Until there is no reason to wait any more; the reason is shown meanwhile.
void PeerRun::Impl::wait_until(const std::function<std::string()>& why_not_yet) {
  std::string shown;
  for (std::string why; !(why = why_not_yet()).empty();) {
    require_going_on();
    if (why != shown) {
      log.write("waiting: " + why);
      reporter->change([&](PeerStatus& status) { status.waiting_for = why; });
      shown = why;
    }
    reporter->change([&](PeerStatus& status) { status.progress = progress; });
    ++progress;
    std::this_thread::sleep_for(kLook);
  }
  reporter->change([](PeerStatus& status) { status.waiting_for.clear(); });
}

// A run begins when a quorum is linked. Who comes later, or comes back, looks for the others for as long as
// it takes to say that somebody is gone.
void PeerRun::Impl::wait_for_company() {
  const std::uint64_t next = done + 1;
  const auto present = parts.federation.present_in(has_state ? next : 1);
  const auto began_looking = Clock::now();
  wait_until([&]() -> std::string {
    const auto views = others();
    std::vector<std::string> absent;
    std::size_t linked = 1, silent = 0;
    for (const auto& view : views) {
      if (view.number >= present.size() || !present[view.number]) continue;
      linked += view.linked ? 1 : 0;
      silent += view.linked && !view.pulse ? 1 : 0;
      if (!view.linked) absent.push_back(view.name);
    }
    const auto all = static_cast<std::size_t>(std::ranges::count(present, true));
    const std::size_t quorum = parts.federation.quorum == 0 ? all : std::min(parts.federation.quorum, all);
    const bool graced = seconds_since(began_looking) > options.patience.grace_seconds();
    auto missing = fmt::format("{} of {} members linked; not {}", linked, all, fmt::join(absent, ", "));
    if (!has_state && linked < quorum) return missing;
    if (!graced && !absent.empty()) return missing;
    return !graced && silent > 0 ? "the others to say where they are" : "";
  });
}

void PeerRun::Impl::wait_for_enough() {
  if (options.min_present < 2) return;
  wait_until([&]() -> std::string {
    const auto views = others();
    const auto alive = 1 + static_cast<std::size_t>(std::ranges::count_if(views, &PeerView::alive));
    if (alive >= options.min_present) return "";
    return fmt::format("{} of {} members alive, min_present = {}", alive, views.size() + 1,
                       options.min_present);
  });
}

std::optional<std::uint64_t> PeerRun::Impl::left_behind() const {
  return round_to_join(parts.self, done + 1, others(),
                       [&](std::uint64_t round) { return roster.plan(round).network.graph; });
}

// To where the others are, if they went on without this one.
void PeerRun::Impl::catch_up() {
  const auto target = left_behind();
  if (has_state) {
    if (target) jump_to(std::min(*target, rounds));
    return;
  }
  const std::uint64_t from = std::max(target.value_or(1), roster.member(parts.self).from_round);
  if (from > 1) adopt_from(std::min(from, rounds));
}

// The rounds before `round` are over for this member. Saved at once: what it sends from there on is of this
// state in that round, also after a stop.
void PeerRun::Impl::jump_to(std::uint64_t round) {
  if (round <= done + 1) return;
  notes.on_note(fmt::format("left behind: from round {} to round {}, where the others are", done, round));
  RoundArrivals arrivals{.round = round - 1};
  arrivals.jumped_from = done;
  reporter->change([](PeerStatus& status) { ++status.jumps; });
  files->skip_to(round - 1);
  end_round(arrivals);
}

// Listens, round after round, until a neighbour's state is there to begin with.
void PeerRun::Impl::adopt_from(std::uint64_t round) {
  for (; round <= rounds; ++round) {
    set_stage(PeerStage::adopt, round);
    const auto whose = node.adopt(roster.plan(round), run_id, *exchange);
    if (!whose) {
      if (const auto target = left_behind()) round = std::max(round, std::min(*target, rounds) - 1);
      continue;
    }
    notes.on_note(
        fmt::format("no state of its own: begins with that of {} in round {}", roster.name(*whose), round));
    RoundArrivals arrivals{.round = round};
    arrivals.adopted = *whose;
    reporter->change([](PeerStatus& status) { ++status.adoptions; });
    files->skip_to(round);
    end_round(arrivals);
    return;
  }
  notes.on_warning("nobody had a state to begin with", "the adapter is that of an untrained member");
  files->skip_to(rounds);
  end_round({.round = rounds});
}

// A round is over: who came first, then its record, then what the next one goes on from.
void PeerRun::Impl::end_round(const RoundArrivals& arrivals) {
  append_lines(parts.folder / kArrivalsFile, std::array{to_json(arrivals).dump()});
  saver->after_round(files->totals(), node.state());
  done = arrivals.round;
  has_state = true;
}

void PeerRun::Impl::correct_reasons(RoundArrivals& arrivals) const {
  for (std::size_t phase = 0; phase < arrivals.phases.size(); ++phase)
    for (auto& missing : arrivals.phases[phase].missing) {
      const auto why =
          exchange->given_up({arrivals.round, static_cast<std::uint32_t>(phase)}, missing.sender);
      if (!why.empty() && missing.why == to_string(Absence::deadline)) missing.why = why;
    }
}

void PeerRun::Impl::count_missing(const RoundArrivals& arrivals) {
  reporter->change([&](PeerStatus& status) {
    for (const auto& phase : arrivals.phases)
      for (const auto& missing : phase.missing) {
        ++status.missing_messages;
        for (auto& member : status.members)
          if (member.number == missing.sender) ++member.missing_messages;
      }
  });
}

void PeerRun::Impl::score(RoundRecord& record) {
  if (!is_evaluated(parts.config, record.round) && record.round < rounds) return;
  set_stage(PeerStage::evaluate, record.round);
  const Stopwatch evaluating;
  record.evaluation = node.evaluate();
  record.seconds.evaluate = evaluating.seconds();
}

void PeerRun::Impl::do_round(std::uint64_t round) {
  const auto round_began = Clock::now();
  auto plan = roster.plan(round);
  round_under_way = round;
  if (parts.config.diagnostics.merge_views > 0 && is_evaluated(parts.config, round)) {
    plan.viewed.assign(plan.clients, false);
    plan.viewed[parts.self] = true;
  }
  const bool takes_part = plan.is_active(parts.self);
  reporter->change([&](PeerStatus& status) {
    for (auto& member : status.members) {
      const auto neighbours =
          takes_part ? plan.mixing.graph().neighbours(parts.self) : std::span<const ClientId>();
      member.neighbour = std::ranges::find(neighbours, member.number) != neighbours.end();
    }
  });
  auto outcome =
      node.run_round(plan, run_id, *exchange, [this](const RoundProgress& now) { on_progress(now); });
  correct_reasons(outcome.arrivals);
  count_missing(outcome.arrivals);
  score(outcome.record);
  if (takes_part) exchange->sent().save(parts.folder / "letters", round, roster.rounds_ahead(rounds) + 1);
  files->add(outcome.record);
  end_round(outcome.arrivals);
  files->summarize();
  round_seconds += seconds_since(round_began);
  ++rounds_here;
  record_round(outcome);
}

void PeerRun::Impl::record_round(SiteNode::Outcome& outcome) {
  const RoundRecord& record = outcome.record;
  log.write(describe_round(record));
  reporter->change([&](PeerStatus& status) {
    status.done = done;
    status.usual_round_seconds = round_seconds / static_cast<double>(rounds_here);
    status.refused_messages += record.refused_messages;
    status.sent_bytes = exchange->counts().sent_bytes;
    status.received_bytes = exchange->counts().received_bytes;
    if (record.images > 0) status.train_loss = record.train_loss;
    if (record.evaluation) status.accuracy = record.evaluation->accuracy_masked.mean;
    if (!outcome.merged) return;
    ++status.merges;
    status.last_merge = seconds_since_1970();
    status.last_merge_round = record.round;
  });
  observer.on_round(record, reporter->now());
  reporter->tell_soon();
}

void PeerRun::Impl::finish() {
  fs::create_directories(parts.folder / "adapter");
  write_node_adapter(parts.folder / "adapter", card, adapter_name(parts.self), done, node.node());
  log.write("adapter written");
  set_stage(PeerStage::done, done);
}

// From where it stands to its last round.
void PeerRun::Impl::go_through_rounds() {
  set_stage(PeerStage::start, done + 1);
  send_again(parts.folder / "letters", done, *exchange);
  if (done < rounds) wait_for_company();
  // A round of which others may have letters is finished first: the same letters come of it again.
  bool may_jump = last_spoken_round(parts.folder / "letters") != done + 1;
  while (done < rounds) {
    require_going_on();
    wait_for_enough();
    if (may_jump) catch_up();
    may_jump = true;
    if (done < rounds) do_round(done + 1);
  }
  finish();
}

void PeerRun::Impl::end(const char* how, const std::string& why) {
  log.write_if_possible(why.empty() ? how : fmt::format("{}: {}", how, why));
  reporter->change([&](PeerStatus& status) {
    status.ended = how;
    status.trouble = why;
    status.waiting_for.clear();
  });
}

PeerResult PeerRun::Impl::run(Exchange& below, Company& members) {
  company = &members;
  exchange.emplace(
      below, members, options.patience, [this](std::span<const ClientId> missing) { while_waiting(missing); },
      [this](std::uint64_t round) { note_letters(round); });
  auto first = first_status(parts, rounds);
  first.done = done;
  reporter.emplace(parts.folder, std::move(first),
                   [this](const PeerStatus& status) { observer.on_status(status); });
  reporter->watch(company);
  try {
    go_through_rounds();
    end("done", "");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) {
      end("stopped", "");
      return {true, done};
    }
    end("failed", error.what());
    if (error.code() != ErrorCode::resource_exhausted || !error.hint().empty()) throw;
    throw Error(error.code(), error.what(), "make room and start it again: what was written before is whole")
        .at(error.place());
  }
  return {false, done};
}

PeerRun::PeerRun(const PeerParts& parts, PeerOptions options, PeerObserver& observer)
    : impl_(std::make_unique<Impl>(parts, std::move(options), observer)) {}

PeerRun::~PeerRun() = default;

std::uint64_t PeerRun::first_round() const {
  return first_kept_round(impl_->parts.folder / "letters", impl_->done);
}

const RunId& PeerRun::run_id() const { return impl_->run_id; }

MailboxOptions PeerRun::mailbox() const {
  const Impl& impl = *impl_;
  const std::uint64_t ahead = impl.roster.rounds_ahead(impl.rounds);
  auto options = mailbox_options(impl.method, ahead, {&impl.node.node(), 1});
  options.admits =
      neighbours_of([&impl](std::uint64_t round) { return impl.roster.plan(round).network.graph; }, ahead + 2,
                    impl.parts.self);
  return options;
}

PeerResult PeerRun::run(Exchange& exchange, Company& company) { return impl_->run(exchange, company); }

void PeerRun::leave() {
  impl_->reporter.reset();
  impl_->company = nullptr;
}

}  // namespace dfrost
