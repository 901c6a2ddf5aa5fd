// The driver: what a site does from its first round to its last, in the order in which it does it.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/stopwatch.h"
#include "base/version.h"
#include "dfrost/error.h"
#include "peer/peer_run.h"
#include "peer/sent_letters.h"
#include "run/mailbox_rules.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

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

void PeerRun::Impl::finish() {
  fs::create_directories(parts.folder / "adapter");
  write_node_adapter(parts.folder / "adapter", card, adapter_name(parts.self), done, node.node());
  log.write("adapter written");
  set_stage(PeerStage::done, done);
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
