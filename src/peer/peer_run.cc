// The driver: what a site does from its first round to its last, in the order in which it does it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/stopwatch.h"
#include "base/version.h"
#include "config/settings_identity.h"
#include "dfrost/error.h"
#include "peer/peer_impl.h"
#include "privacy/noise_source.h"
#include "records/record_file.h"
#include "run/federation_parts.h"
#include "run/mailbox_rules.h"
#include "run/result_fingerprint.h"
#include "run/resumption.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::milliseconds kTellProgressEvery{500};

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

PeerRun::Impl::Impl(const PeerParts& given, PeerOptions how, PeerObserver& watcher)
    : parts(given),
      options(std::move(how)),
      observer(watcher),
      log(given.folder / "run.log"),
      notes(log, watcher),
      method(make_method(given.config, NoiseOrigin::system, given.frame, given.metric)),
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
                                   {parts.pictures.corpus, own, topology}, parts.frame);
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
    has_state = done > 0;
    notes.on_note(done > 0 || is_prepared()
                      ? fmt::format("resumed after round {}", done)
                      : fmt::format("resumed before the first round, after {} of {} exchanges of moments",
                                    node.phases_prepared(), method.preparation.size()));
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
  // Who adopts says so until it has done so: nobody waits for it.
  if (stage != PeerStage::adopt)
    set_stage(now.stage == "train" || now.stage == "moments" ? PeerStage::train : PeerStage::exchange,
              round_under_way);
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

void PeerRun::Impl::finish() {
  fs::create_directories(parts.folder / "adapter");
  write_node_adapter(parts.folder / "adapter", card, adapter_name(parts.self), done, node.node());
  log.write("adapter written");
  set_stage(PeerStage::done, done);
}

// From where it stands to its last round.
void PeerRun::Impl::go_through_rounds() {
  set_stage(PeerStage::start, next_round());
  send_again(parts.folder / "letters", done, *exchange);
  if (done < rounds) {
    wait_for_company();
    prepare();
  }
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
  return impl_->is_prepared() ? first_kept_round(impl_->parts.folder / "letters", impl_->done) : 0;
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
