#include "run/round.h"

#include <memory>
#include <utility>

#include "base/stopwatch.h"
#include "run/progress_counter.h"

namespace dfrost {
namespace {

class RoundRunner {
 public:
  RoundRunner(const RoundPlan& plan, const RunId& run, const Residents& residents,
              const RoundProgressCallback& progress)
      : plan_(plan), run_(run), residents_(residents), progress_(progress) {
    outcome_.nodes.resize(residents.nodes.size());
    for (std::size_t u = 0; u < residents.nodes.size(); ++u) {
      outcome_.nodes[u].node = residents.nodes[u].id;
      active_ += plan.is_active(residents.nodes[u].id) ? 1 : 0;
    }
  }

  void run_phase(const Phase& phase, std::uint32_t number, const Patience& patience) {
    const Moment moment{plan_.round, number};
    // A node listens before it works: the letter of a faster neighbour must find it.
    for (std::size_t u = 0; u < residents_.nodes.size(); ++u)
      if (plan_.is_active(residents_.nodes[u].id)) residents_.equipment[u].exchange->begin(moment);
    work(phase);
    // All send before anybody receives: in one process no node waits, and none sees a state that is already
    // merged.
    send(phase, moment);
    absorb(phase, moment, patience);
  }

  RoundOutcome finish() {
    for (Node& node : residents_.nodes) node.draft.clear();
    return std::move(outcome_);
  }

 private:
  template <typename Body>
  void for_each_active(const Body& body) {
    residents_.threads.parallel_for(residents_.nodes.size(), [&](std::size_t u, std::size_t worker) {
      if (plan_.is_active(residents_.nodes[u].id)) body(u, worker);
    });
  }

  Envelope envelope(const Phase& phase, const Node& node, Moment moment) const {
    return {.run = run_, .sender = node.id, .moment = moment, .kind = phase.kind()};
  }

  void work(const Phase& phase) {
    const Stopwatch clock;
    ProgressCounter counter(progress_, phase.work_stage(), active_);
    for_each_active([&](std::size_t u, std::size_t worker) {
      NodeReport& report = outcome_.nodes[u];
      const std::size_t seen_before = report.train.images;
      phase.work(residents_.nodes[u], plan_, {residents_.equipment[u].samples, residents_.workspaces[worker]},
                 report);
      counter.add(report.train.images - seen_before);
    });
    outcome_.work_seconds += clock.seconds();
  }

  void send(const Phase& phase, Moment moment) {
    const Stopwatch clock;
    for_each_active([&](std::size_t u, std::size_t) {
      const Node& node = residents_.nodes[u];
      if (!phase.speaks(node.role)) return;
      for (const Letter& letter : phase.letters(node, plan_)) {
        const auto bytes = residents_.letters.take();
        encode_message(envelope(phase, node, moment), letter.tensors, *bytes);
        for (const ClientId peer : letter.to) residents_.equipment[u].exchange->send(peer, bytes);
      }
    });
    if (residents_.carry) residents_.carry(moment);
    outcome_.send_seconds += clock.seconds();
  }

  void absorb(const Phase& phase, Moment moment, const Patience& patience) {
    ProgressCounter counter(progress_, phase.absorb_stage(), active_);
    const Stopwatch side_by_side;
    for_each_active([&](std::size_t u, std::size_t) {
      Node& node = residents_.nodes[u];
      NodeReport& report = outcome_.nodes[u];
      const Stopwatch receiving;
      const Inbox inbox = receive_letters(node, phase, plan_, envelope(phase, node, moment), patience(),
                                          *residents_.equipment[u].exchange);
      report.exchange_seconds += receiving.seconds();
      report.refused += inbox.refused.size();
      report.missing += inbox.missing.size();
      report.arrivals.push_back(arrivals_of(inbox));
      phase.absorb(node, inbox, plan_, report);
      counter.add();
    });
    outcome_.absorb_seconds += side_by_side.seconds();
  }

  const RoundPlan& plan_;
  const RunId& run_;
  const Residents& residents_;
  const RoundProgressCallback& progress_;
  std::size_t active_ = 0;
  RoundOutcome outcome_;
};

RoundOutcome run_phases(std::span<const std::unique_ptr<const Phase>> phases, RoundRunner runner,
                        const Patience& patience) {
  for (std::size_t i = 0; i < phases.size(); ++i)
    runner.run_phase(*phases[i], static_cast<std::uint32_t>(i), patience);
  return runner.finish();
}

}  // namespace

RoundOutcome run_round(const Method& method, const RoundPlan& plan, const RunId& run,
                       const Residents& residents, const Patience& patience,
                       const RoundProgressCallback& progress) {
  return run_phases(method.phases, {plan, run, residents, progress}, patience);
}

RoundOutcome run_preparation(const Method& method, const RoundPlan& plan, const RunId& run,
                             const Residents& residents, const Patience& patience,
                             const RoundProgressCallback& progress) {
  return run_phases(method.preparation, {plan, run, residents, progress}, patience);
}

RoundOutcome run_preparation_phase(const Method& method, std::size_t number, const RoundPlan& plan,
                                   const RunId& run, const Residents& residents, const Patience& patience,
                                   const RoundProgressCallback& progress) {
  RoundRunner runner(plan, run, residents, progress);
  runner.run_phase(*method.preparation.at(number), static_cast<std::uint32_t>(number), patience);
  return runner.finish();
}

}  // namespace dfrost
