#include "peer/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "backbone/checkpoint.h"
#include "backbone/weights_fingerprint.h"
#include "base/file.h"
#include "base/json.h"
#include "config/settings_identity.h"
#include "dfrost/error.h"
#include "federation/site_data.h"
#include "kernels/cpu.h"
#include "peer/arrivals.h"
#include "peer/pictures.h"
#include "peer/roster.h"
#include "peer/sent_letters.h"
#include "peer/site_node.h"
#include "records/savepoint_file.h"
#include "run/backbone_frame.h"
#include "run/federation_parts.h"
#include "run/moments_phase.h"
#include "run/saved_nodes.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// Every letter of a round, by phase, sender and receiver.
class RecordedMail {
 public:
  void send(Moment moment, ClientId from, ClientId to, SharedBytes letter) {
    const std::lock_guard lock(mutex_);
    letters_[{moment, from, to}] = std::move(letter);
  }
  SharedBytes find(Moment moment, ClientId from, ClientId to) const {
    const std::lock_guard lock(mutex_);
    const auto found = letters_.find({moment, from, to});
    return found == letters_.end() ? nullptr : found->second;
  }
  void clear() { letters_.clear(); }

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<Moment, ClientId, ClientId>, SharedBytes> letters_;
};

// One site's end of it: what its site recorded arrives, and nothing else.
class ReplayExchange final : public Exchange {
 public:
  ReplayExchange(RecordedMail& mail, ClientId self) : mail_(mail), self_(self) {}

  // What arrived in the round to come.
  void expect(const RoundArrivals& arrivals) { arrivals_ = &arrivals; }
  const std::string& problem() const { return problem_; }

  ClientId self() const override { return self_; }
  void begin(Moment moment) override { moment_ = moment; }
  void send(ClientId peer, SharedBytes message) override {
    mail_.send(moment_, self_, peer, std::move(message));
  }
  std::vector<Received> receive(std::span<const ClientId> peers, Deadline) override {
    std::vector<Received> received;
    for (const ClientId peer : peers) {
      Received& one = received.emplace_back(Received{.sender = peer, .message = nullptr});
      one.absence = Absence::gone;
      if (!arrived(peer)) continue;
      one.message = mail_.find(moment_, peer, self_);
      if (one.arrived()) {
        one.absence = Absence::none;
      } else if (problem_.empty()) {
        problem_ = fmt::format("in round {} it got a letter of member {}, who by its own records sent none",
                               moment_.round, peer);
      }
    }
    std::ranges::sort(received, {}, &Received::sender);
    return received;
  }
  std::vector<ClientId> wait(std::span<const ClientId>, Deadline) override { return {}; }
  ExchangeCounts counts() const override { return {}; }

 private:
  bool arrived(ClientId peer) const {
    if (arrivals_ == nullptr || moment_.phase >= arrivals_->phases.size()) return false;
    const auto& there = arrivals_->phases[moment_.phase].arrived;
    return std::ranges::find(there, peer) != there.end();
  }

  RecordedMail& mail_;
  ClientId self_;
  Moment moment_;
  const RoundArrivals* arrivals_ = nullptr;
  std::string problem_;
};

// A site and all it needs to be computed again.
struct Resident {
  Site site;
  std::map<std::uint64_t, RoundArrivals> rounds = {};
  Savepoint end = {};
  std::uint64_t spoken = 0;  // the last round of which others may have letters
  std::shared_ptr<const SitePictures> pictures = {};
  std::unique_ptr<CorpusSamples> pool = {};
  std::unique_ptr<SampleSubset> samples = {};
  std::unique_ptr<ReplayExchange> exchange = {};
};

Resident read_site(const fs::path& folder) {
  Resident resident{.site = open_site(folder)};
  const auto run = resident.site.run_folder();
  auto found = newest_savepoint(run / "checkpoints");
  if (!found.checkpoint || found.checkpoint->round == 0)
    throw Error(ErrorCode::failed_precondition, "the site has not done a round yet",
                "'dfrost peer start' runs it")
        .at(folder.string());
  resident.end = std::move(*found.checkpoint);
  resident.spoken = last_spoken_round(run / "letters");
  // A round that was under way when the process ended is no part of it.
  for (auto& arrivals : read_arrivals(run / kArrivalsFile))
    if (arrivals.round == 0)
      add_phases(arrivals, resident.rounds[0]);
    else if (arrivals.round <= resident.end.round)
      resident.rounds[arrivals.round] = std::move(arrivals);
  return resident;
}

std::string processor_of(const Site& site) {
  const auto about = read_json_file(site.run_folder() / "about.json");
  return about.contains("machine") ? about["machine"].value("cpu", "unknown") : "unknown";
}

// Whose federation file is the latest: it lists all that ever took part.
const Federation& newest_file(const std::vector<Resident>& residents) {
  const auto revision = [](const Resident& one) { return one.site.joined().revision; };
  return std::ranges::max_element(residents, {}, revision)->site.joined();
}

// Each site has read the file beside its own backbone.
std::optional<FrameParts> frame_at(const Site& site, const Checkpoint& model) {
  return backbone_frame(site.config(), find_site_backbone(site), model, site.joined().backbone_fingerprint);
}

class Replayer {
 public:
  Replayer(std::vector<Resident> residents, RunNotes& notes);
  Replay run();

 private:
  void prepare();
  void do_round(std::uint64_t round);
  void adopt(std::size_t who, const RoundPlan& plan, ClientId whose);
  ReplayedSite compare(std::size_t who) const;

  std::vector<Resident> residents_;
  RunConfig config_;
  std::unique_ptr<Checkpoint> source_;
  std::unique_ptr<Backbone> backbone_;
  Method method_;
  Roster roster_;
  RunId run_id_;
  RecordedMail mail_;
  std::vector<Node> nodes_;  // of each resident
  ThreadPool threads_;
  std::vector<Workspace> workspaces_;
};

Replayer::Replayer(std::vector<Resident> residents, RunNotes& notes)
    : residents_(std::move(residents)),
      config_(residents_.front().site.config()),
      source_(site_backbone(residents_.front().site)),
      backbone_(make_backbone(*source_, {.precision = config_.backbone.precision})),
      method_(make_method(config_, NoiseOrigin::seed, frame_at(residents_.front().site, *source_),
                          backbone_metric(config_, *source_))),
      roster_(newest_file(residents_), method_.network, config_.run.seed),
      run_id_(dfrost::run_id(config_, backbone_->precision())),
      threads_(0) {
  std::map<fs::path, std::shared_ptr<const SitePictures>> shares;  // the same for all that have them there
  for (auto& resident : residents_) {
    const Site& site = resident.site;
    const ClientId self = site.number();
    if (site.settings.partition) {
      auto& shared = shares[site.settings.data_root];
      if (!shared) shared = std::make_shared<const SitePictures>(open_site_pictures(site, notes));
      resident.pictures = shared;
    } else {
      resident.pictures = std::make_shared<const SitePictures>(open_site_pictures(site, notes));
    }
    const auto& corpus = resident.pictures->corpus;
    resident.pool =
        std::make_unique<CorpusSamples>(corpus, corpus.train, *backbone_, source_->preprocessing(),
                                        train_cache_bytes(config_) / residents_.size());
    resident.samples =
        std::make_unique<SampleSubset>(*resident.pool, resident.pictures->partition.clients[self]);
    resident.exchange = std::make_unique<ReplayExchange>(mail_, self);
    nodes_.push_back(
        make_node(config_, backbone_->geometry(), corpus.classes(), self, config_.prompts_of(self)));
    nodes_.back().most_prompts *= method_.prompt_growth;
    if (auto frame = frame_at(site, *source_)) give_frame(std::move(*frame), nodes_.back());
  }
  for (std::size_t t = 0; t < threads_.size(); ++t) workspaces_.emplace_back(*backbone_);
}

// What came before the first round; who joined later was alone in it.
void Replayer::prepare() {
  if (method_.preparation.empty()) return;
  std::vector<Node> together;
  std::vector<Equipment> equipment;
  std::vector<std::size_t> who;
  const auto run = [&](std::span<Node> nodes, std::span<const Equipment> with, const RoundPlan& plan) {
    run_preparation(method_, plan, run_id_, {nodes, with, threads_, workspaces_}, no_patience, {});
  };
  for (std::size_t i = 0; i < residents_.size(); ++i) {
    const Equipment own{residents_[i].samples.get(), residents_[i].exchange.get()};
    residents_[i].exchange->expect(residents_[i].rounds[0]);
    if (!roster_.member(nodes_[i].id).takes_part_in(1)) {
      run({&nodes_[i], 1}, {&own, 1}, roster_.plan_preparation(nodes_[i].id));
      continue;
    }
    who.push_back(i);
    together.push_back(std::move(nodes_[i]));
    equipment.push_back(own);
  }
  if (!together.empty()) run(together, equipment, roster_.plan(0));
  for (std::size_t k = 0; k < who.size(); ++k) nodes_[who[k]] = std::move(together[k]);
}

void Replayer::adopt(std::size_t who, const RoundPlan& plan, ClientId whose) {
  const Phase& phase = *method_.phases.front();
  Node& node = nodes_[who];
  const Moment moment{plan.round, 0};
  RoundArrivals only{.round = plan.round};
  only.phases.push_back({{whose}, {}});
  residents_[who].exchange->expect(only);
  residents_[who].exchange->begin(moment);
  const auto inbox = receive_letters(node, phase, plan, {run_id_, node.id, moment, phase.kind()},
                                     Exchange::kNoWaiting, *residents_[who].exchange);
  if (!inbox.messages.empty()) take_over(inbox.messages.front(), node);
}

// Those who took part, side by side; then those who listened.
void Replayer::do_round(std::uint64_t round) {
  const auto plan = roster_.plan(round);
  const RoundArrivals nothing{.round = round};
  mail_.clear();
  std::vector<std::size_t> part;
  std::vector<std::pair<std::size_t, ClientId>> listeners;
  std::vector<std::size_t> unfinished;
  for (std::size_t i = 0; i < residents_.size(); ++i) {
    const auto found = residents_[i].rounds.find(round);
    if (found == residents_[i].rounds.end()) {
      if (residents_[i].spoken == round && residents_[i].end.round + 1 == round) unfinished.push_back(i);
      continue;
    }
    if (found->second.adopted) listeners.emplace_back(i, *found->second.adopted);
    if (found->second.phases.empty()) continue;
    residents_[i].exchange->expect(found->second);
    part.push_back(i);
  }
  std::vector<Node> nodes;
  std::vector<Equipment> equipment;
  for (const std::size_t i : part) {
    nodes.push_back(std::move(nodes_[i]));
    equipment.push_back({residents_[i].samples.get(), residents_[i].exchange.get()});
  }
  // Of a round that a site has begun and not finished, others have its letters; its own state is that before.
  for (const std::size_t i : unfinished) {
    nodes.push_back(nodes_[i]);
    equipment.push_back({residents_[i].samples.get(), residents_[i].exchange.get()});
    residents_[i].exchange->expect(nothing);
  }
  if (!nodes.empty())
    run_round(method_, plan, run_id_, {nodes, equipment, threads_, workspaces_}, no_patience, {});
  for (std::size_t i = 0; i < part.size(); ++i) nodes_[part[i]] = std::move(nodes[i]);
  for (const auto& [who, whose] : listeners) adopt(who, plan, whose);
}

ReplayedSite Replayer::compare(std::size_t who) const {
  const Resident& resident = residents_[who];
  ReplayedSite result{.folder = resident.site.folder,
                      .name = resident.site.self().name,
                      .number = resident.site.number(),
                      .rounds = resident.end.round};
  for (const auto& [round, arrivals] : resident.rounds) {
    result.trained += round == 0 || arrivals.phases.empty() ? 0 : 1;
    result.jumps += arrivals.jumped_from ? 1 : 0;
    result.adoptions += arrivals.adopted ? 1 : 0;
    for (const auto& phase : arrivals.phases) result.missed += phase.missing.size();
  }
  const auto computed = save_nodes(std::span(&nodes_[who], 1), config_.train.optimizer_state);
  result.same = computed == resident.end.nodes;
  if (result.same) return result;
  result.problem = resident.exchange->problem();
  if (!result.problem.empty()) return result;
  const auto& theirs = resident.end.nodes.values;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < std::min(theirs.size(), computed.values.size()); ++i)
    differing += theirs[i] == computed.values[i] ? 0 : 1;
  result.problem =
      fmt::format("{} of {} values differ after round {}", differing, theirs.size(), result.rounds);
  return result;
}

Replay Replayer::run() {
  std::uint64_t last = 0;
  for (const auto& resident : residents_) last = std::max<std::uint64_t>(last, resident.end.round);
  prepare();
  for (std::uint64_t round = 1; round <= last; ++round) do_round(round);
  Replay replay;
  for (std::size_t i = 0; i < residents_.size(); ++i) replay.sites.push_back(compare(i));
  return replay;
}

// Whoever others heard must be there.
void require_all_senders(const std::vector<Resident>& residents) {
  std::set<ClientId> there;
  for (const auto& resident : residents) there.insert(resident.site.number());
  for (const auto& resident : residents)
    for (const auto& [round, arrivals] : resident.rounds)
      for (const auto& phase : arrivals.phases)
        for (const ClientId sender : phase.arrived) {
          if (there.contains(sender)) continue;
          const auto& members = resident.site.joined().members;
          throw Error(ErrorCode::invalid_argument,
                      fmt::format("{} got letters of {}, whose folder is not among those given",
                                  resident.site.self().name,
                                  sender < members.size() ? members[sender].name : "an unknown member"),
                      "give the folders of all sites");
        }
}

}  // namespace

bool Replay::same() const { return std::ranges::all_of(sites, &ReplayedSite::same); }

Replay replay_sites(const std::vector<fs::path>& folders, RunNotes& notes) {
  std::vector<Resident> residents;
  std::set<std::string> processors = {cpu_summary()};
  for (const auto& folder : folders) {
    residents.push_back(read_site(folder));
    const Site& site = residents.back().site;
    processors.insert(processor_of(site));
    if (site.joined().id() != residents.front().site.joined().id())
      throw Error(ErrorCode::invalid_argument, "these are sites of different federations")
          .at(folder.string());
  }
  if (residents.front().site.config().privacy.kind != PrivacyKind::none)
    throw Error(ErrorCode::failed_precondition,
                "these sites drew their noise from their systems' generators and kept nothing of it: nobody "
                "can compute their rounds once more",
                "only sites without [privacy] can be replayed")
        .at("privacy.kind");
  std::ranges::sort(residents, {}, [](const Resident& one) { return one.site.number(); });
  require_all_senders(residents);
  Replay replay = Replayer(std::move(residents), notes).run();
  replay.processors.assign(processors.begin(), processors.end());
  return replay;
}

}  // namespace dfrost
