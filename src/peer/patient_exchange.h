// An exchange that waits for each neighbour as long as there is reason to (peer/patience.h), and notes who
// came when. What it sends and receives is what the exchange below it does.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "network/exchange.h"
#include "peer/company.h"
#include "peer/patience.h"
#include "peer/sent_letters.h"

namespace dfrost {

class PatientExchange final : public Exchange {
 public:
  // Called from the thread that receives, several times a second while it waits; may throw to end it.
  using WhileWaiting = std::function<void(std::span<const ClientId> missing)>;

  // Called before the first letter of a round leaves; may throw to keep it.
  using BeforeSending = std::function<void(std::uint64_t round)>;

  PatientExchange(Exchange& below, const Company& company, const PatienceOptions& options,
                  WhileWaiting while_waiting, BeforeSending before_sending = {})
      : below_(below),
        company_(company),
        options_(options),
        while_waiting_(std::move(while_waiting)),
        before_sending_(std::move(before_sending)) {}

  ClientId self() const override { return below_.self(); }
  void begin(Moment moment) override;
  void send(ClientId peer, SharedBytes message) override;
  // Does not look at the deadline: whom it waits for, and how long, is its own.
  std::vector<Received> receive(std::span<const ClientId> peers, Deadline deadline) override;
  std::vector<ClientId> wait(std::span<const ClientId> peers, Deadline deadline) override {
    return below_.wait(peers, deadline);
  }
  ExchangeCounts counts() const override { return below_.counts(); }

  Moment moment() const { return moment_; }
  const SentLetters& sent() const { return sent_; }  // in this round
  // Why nobody waited any longer for a neighbour in this phase; empty where that is not so.
  std::string given_up(Moment moment, ClientId peer) const;
  // How long its letters usually take.
  double usual_seconds(ClientId peer) const;

 private:
  using Clock = std::chrono::steady_clock;
  // What is remembered of a neighbour while its letter is missing.
  struct Watch {
    std::optional<Pulse> pulse;
    Clock::time_point changed, passed;
    bool is_beyond = false;
  };

  Verdict verdict_on(const PeerView& view, Clock::time_point since, Clock::time_point now);
  std::vector<ClientId> still_awaited(const std::vector<ClientId>& missing, Clock::time_point since);

  Exchange& below_;
  const Company& company_;
  PatienceOptions options_;
  WhileWaiting while_waiting_;
  BeforeSending before_sending_;
  Moment moment_;
  SentLetters sent_;
  std::map<ClientId, Watch> watched_;                        // of this moment
  std::map<ClientId, ArrivalTimes> times_;                   // of all
  std::map<std::pair<Moment, ClientId>, Verdict> given_up_;  // of this round
};

}  // namespace dfrost
