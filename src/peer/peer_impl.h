// The driver from within: what a site has while it runs, and the steps that it takes, of which peer_run.cc
// has the order, peer_rounds.cc those of a round, and peer_preparation.cc what comes before the first.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "peer/patient_exchange.h"
#include "peer/peer.h"
#include "peer/reporter.h"
#include "peer/roster.h"
#include "peer/site_node.h"
#include "run/run_files.h"
#include "run/run_log.h"
#include "run/write_adapters.h"

namespace dfrost {

inline double seconds_since(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

struct PeerRun::Impl {
  using Clock = std::chrono::steady_clock;

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
  void prepare();
  void wait_for_enough();
  void catch_up();
  void jump_to(std::uint64_t round);
  void adopt_from(std::uint64_t round);
  void do_round(std::uint64_t round);
  void finish();
  void go_through_rounds();
  void end(const char* how, const std::string& why);

  bool is_prepared() const { return done > 0 || node.phases_prepared() == method.preparation.size(); }
  // Before the first one there may be a round 0, in which the method is prepared.
  std::uint64_t next_round() const { return is_prepared() ? done + 1 : 0; }
  void set_stage_of_preparation();
  void end_phase(RoundArrivals& arrivals);
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

}  // namespace dfrost
