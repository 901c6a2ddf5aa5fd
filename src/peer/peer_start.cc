// A peer before it has a network: opens the run folder and goes on from what is there.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "config/settings_identity.h"
#include "dfrost/error.h"
#include "peer/peer_run.h"
#include "peer/sent_letters.h"
#include "privacy/noise_source.h"
#include "records/record_file.h"
#include "run/federation_parts.h"
#include "run/result_fingerprint.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

}  // namespace

PeerRun::Impl::Impl(const PeerParts& given, PeerOptions how, PeerObserver& watcher)
    : parts(given),
      options(std::move(how)),
      observer(watcher),
      log(given.folder / "run.log"),
      notes(log, watcher),
      method(make_method(given.config, NoiseOrigin::system, given.frame)),
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

}  // namespace dfrost
