// A federation whose members are threads of the test: the driver as it is, over the mailboxes of one process
// and a board on which everybody's pulse stands.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backbone/checkpoint.h"
#include "backbone/weights_fingerprint.h"
#include "network/in_process_exchange.h"
#include "peer/peer.h"
#include "run/opening.h"
#include "run/small_experiment.h"

namespace dfrost::test {

// Every member's last word.
class Board {
 public:
  explicit Board(std::vector<std::string> names) : names_(std::move(names)) {}
  void tell(ClientId member, const Pulse& pulse) {
    const std::lock_guard lock(mutex_);
    pulses_[member] = pulse;
  }
  std::vector<PeerView> others_of(ClientId self) const {
    const std::lock_guard lock(mutex_);
    std::vector<PeerView> views;
    for (ClientId member = 0; member < names_.size(); ++member) {
      if (member == self) continue;
      PeerView view;
      view.number = member;
      view.name = names_[member];
      const auto found = pulses_.find(member);
      view.linked = view.alive = found != pulses_.end();
      if (view.linked) view.pulse = found->second;
      views.push_back(std::move(view));
    }
    return views;
  }

 private:
  std::vector<std::string> names_;
  mutable std::mutex mutex_;
  std::map<ClientId, Pulse> pulses_;
};

class BoardCompany final : public Company {
 public:
  BoardCompany(Board& board, ClientId self) : board_(board), self_(self) {}
  void tell(const Pulse& pulse) override { board_.tell(self_, pulse); }
  std::vector<PeerView> members() const override { return board_.others_of(self_); }

 private:
  Board& board_;
  ClientId self_;
};

class QuietObserver final : public PeerObserver {
 public:
  void on_note(const std::string& text) override { notes.push_back(text); }
  void on_warning(const std::string& what, const std::string&) override { notes.push_back(what); }
  void on_status(const PeerStatus&) override {}
  void on_round(const RoundRecord&, const PeerStatus& status) override { last = status; }

  std::vector<std::string> notes;
  PeerStatus last;
};

inline Federation federation_of(std::size_t members) {
  Federation federation;
  federation.name = "threads";
  for (std::size_t u = 0; u < members; ++u) {
    Member member;
    member.number = static_cast<ClientId>(u);
    member.name = "site-" + std::to_string(u);
    federation.members.push_back(std::move(member));
  }
  return federation;
}

// Runs all members to their end; run folders are FOLDER/site-U/run.
class ThreadFederation {
 public:
  ThreadFederation(const RunConfig& config, Federation federation, std::filesystem::path folder)
      : config_(config), federation_(std::move(federation)), folder_(std::move(folder)) {
    QuietObserver notes;
    checkpoint_ = open_backbone(config_.backbone, notes);
    backbone_ = make_backbone(*checkpoint_, {.precision = config_.backbone.precision});
  }

  std::filesystem::path run_folder(std::size_t member) const {
    return folder_ / federation_.members[member].name / "run";
  }

  void run() {
    std::vector<std::string> names;
    for (const auto& member : federation_.members) names.push_back(member.name);
    Board board(names);
    std::vector<std::unique_ptr<PeerRun>> peers;
    std::vector<std::unique_ptr<SitePictures>> pictures;
    const std::size_t members = federation_.members.size();
    std::vector<QuietObserver> observers(members);
    for (ClientId u = 0; u < members; ++u) {
      pictures.push_back(
          std::make_unique<SitePictures>(share_of_experiment(config_, u, members, observers[u])));
      const PeerParts parts{
          config_,
          federation_,
          u,
          *backbone_,
          checkpoint_->preprocessing(),
          "test",
          weights_fingerprint(*checkpoint_),
          *pictures.back(),
          run_folder(u),
          backbone_frame(config_, config_.backbone.path, *checkpoint_, weights_fingerprint(*checkpoint_)),
          backbone_metric(config_, *checkpoint_)};
      peers.push_back(std::make_unique<PeerRun>(parts, PeerOptions{}, observers[u]));
    }
    auto mailbox = peers.front()->mailbox();
    mailbox.admits = {};  // whom it admits is the first one's alone
    InProcessNetwork network(members, mailbox);
    std::vector<std::exception_ptr> failures(members);
    std::vector<std::thread> threads;
    for (ClientId u = 0; u < members; ++u)
      threads.emplace_back([&, u] {
        BoardCompany company(board, u);
        try {
          peers[u]->run(network.exchange_of(u), company);
        } catch (...) {
          failures[u] = std::current_exception();
        }
        peers[u]->leave();
      });
    for (auto& thread : threads) thread.join();
    for (const auto& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

 private:
  RunConfig config_;
  Federation federation_;
  std::filesystem::path folder_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<Backbone> backbone_;
};

}  // namespace dfrost::test
