// What is measured of a run, round by round: whatever is written or shown of a round comes from here. Plain
// data. A new figure is a field of RoundRecord, or of one of its parts, and a row of the table below the
// struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/evaluation_record.h"
#include "measure/figure.h"
#include "measure/merge_view.h"
#include "network/graph.h"
#include "records/attack_record.h"
#include "records/kernel_record.h"
#include "records/merge_record.h"
#include "records/privacy_record.h"
#include "records/stage_seconds.h"

namespace dfrost {

// Who could talk to whom.
struct RoundGraph {
  std::vector<Edge> links;   // that worked
  std::vector<Edge> failed;  // between clients that took part
  std::vector<ClientId> absent;
};

struct RoundRecord {
  std::size_t round = 0;  // from 1
  // Mean over the clients that trained and did not diverge, of their last epoch; NaN where none did.
  double train_loss = std::numeric_limits<double>::quiet_NaN();
  std::size_t images = 0;                      // seen by all clients in training
  std::size_t diverged_clients = 0;            // whose update was not finite: they go back
  std::optional<EvaluationRecord> evaluation;  // in rounds that evaluate
  double consensus_error = 0;                  // (1/M) Σ W₂²(μ_u, μ_avg)
  double consensus_error_total = 0;            // Σ, as the paper plots
  // What another step of the barycenter would take off it, and what none could go below; NaN around a server.
  double consensus_error_gain = std::numeric_limits<double>::quiet_NaN();
  double consensus_error_floor = std::numeric_limits<double>::quiet_NaN();
  // Means over merges, NaN where there was none: W₂² between the neighbourhood and its summary, and the share
  // of mass that left its own index.
  double merge_error = std::numeric_limits<double>::quiet_NaN();
  double off_index_mass = std::numeric_limits<double>::quiet_NaN();
  std::size_t dead_prompts = 0;     // over all merges: merged prompts without mass in some step
  double prompts_per_client = 0;    // held after the round, mean
  std::size_t dropped_prompts = 0;  // over all clients: beyond merge.pool_limit
  double mixing_factor = 0;         // ρ
  double active_mixing_factor = 0;  // ρ among the clients that took part; absent ones alone make it 1
  double mixing_factor_error = 0;   // of the latter: an eigenvalue lies so near
  std::size_t edges = 0;
  std::size_t failed_edges = 0;
  std::size_t absent_clients = 0;
  std::optional<RoundGraph> graph;  // not of very many clients
  std::uint64_t sent_bytes = 0;
  std::uint64_t sent_messages = 0;
  std::size_t refused_messages = 0;
  std::size_t missing_messages = 0;
  std::optional<TheoryRecord> theory;
  std::optional<ClassMassRecord> class_mass;
  std::optional<PrivacyRecord> privacy;
  std::optional<MembershipRecord> membership;  // in rounds that evaluate
  std::optional<AttackRecord> attack;
  std::optional<DefenceRecord> defence;
  std::optional<KernelRecord> kernel;
  std::vector<MergeView> merge_views;  // of chosen clients, in rounds that evaluate; lines of merges.jsonl
  StageSeconds seconds;
};

template <>
const RoundRecord* part_of(const RoundRecord& record);

inline constexpr Figure kRoundFigures[] = {
    figure("train_loss", "Training loss", "nats", Form::decimals, Better::lower,
           figure_of<&RoundRecord::train_loss>,
           "Cross-entropy of each client's last epoch, mean over those that trained and did not diverge.")
        .in_events("loss/train")
        .in_summary(Summary::last),
    figure("images", "Pictures trained on", "pictures", Form::whole, Better::neither,
           figure_of<&RoundRecord::images>,
           "Seen in training by all clients, each once per epoch, or as far as train.max_steps lets them "
           "come.")
        .in_summary(Summary::total),
    figure("diverged_clients", "Diverged clients", "clients", Form::whole, Better::lower,
           figure_of<&RoundRecord::diverged_clients>,
           "Clients whose update was not finite, or larger than a message may be; they went back to the "
           "state of "
           "before their last merge, and to that of a kept optimizer."),
    figure("consensus_error", "Consensus error", "W₂²", Form::significant, Better::lower,
           figure_of<&RoundRecord::consensus_error>,
           "W₂² of the clients' prompts to the network's barycenter, mean. Falling: they come to agree.")
        .in_events("consensus/error")
        .in_summary(Summary::last)
        .compared({5, "consensus_error", "consensus"})
        .drawn(Chart::log),
    figure("consensus_error_total", "Consensus error, all clients", "W₂²", Form::significant, Better::lower,
           figure_of<&RoundRecord::consensus_error_total>,
           "The same as a sum over clients, as the paper plots it.")
        .in_events("consensus/error_total"),
    figure("consensus_error_gain", "Consensus error, next step", "W₂²", Form::significant, Better::lower,
           figure_of<&RoundRecord::consensus_error_gain>,
           "What one more step towards the barycenter would at least take off the consensus error: distances "
           "are exact, but of a large network the barycenter is cut off after some steps."),
    figure(
        "consensus_error_floor", "Consensus error, at least", "W₂²", Form::significant, Better::neither,
        figure_of<&RoundRecord::consensus_error_floor>,
        "What the consensus error would be at least around any barycenter: half of W₂² between clients, in "
        "pairs."),
    figure("merge_error", "Merge error", "W₂²", Form::significant, Better::neither,
           figure_of<&RoundRecord::merge_error>,
           "W₂² between what came in and what the merge made of it, mean over merges.")
        .in_events("merge/error")
        .drawn(Chart::from_zero)
        .of_merges(),
    figure("off_index_mass", "Off-index mass", "share", Form::share, Better::neither,
           figure_of<&RoundRecord::off_index_mass>,
           "Share of mass that left its own index, mean over merges. At 0, averaging by index would have "
           "done the same.")
        .in_events("merge/off_index_mass")
        .in_summary(Summary::last)
        .drawn(Chart::from_zero)
        .of_merges(),
    figure("dead_prompts", "Dead prompts", "prompts", Form::whole, Better::neither,
           figure_of<&RoundRecord::dead_prompts>,
           "Merged prompts that no mass went to in some step of their merge, over all merges of the round, "
           "whatever merge.dead then did with them.")
        .in_events("merge/dead_prompts")
        .drawn(Chart::from_zero)
        .of_merges(),
    figure("prompts_per_client", "Prompts per client", "prompts", Form::significant, Better::neither,
           figure_of<&RoundRecord::prompts_per_client>,
           "Prompts that a client holds after the round, mean; around a server, those that it hands out.")
        .in_events("pool/prompts_per_client")
        .drawn(Chart::log),
    figure("dropped_prompts", "Dropped prompts", "prompts", Form::whole, Better::neither,
           figure_of<&RoundRecord::dropped_prompts>,
           "Prompts beyond merge.pool_limit, over all pools that grew in the round.")
        .in_events("pool/dropped_prompts"),
    figure("mixing_factor", "Mixing factor, all clients", "", Form::significant, Better::lower,
           figure_of<&RoundRecord::mixing_factor>,
           "ρ of the round's graph; 1 wherever clients are absent, since nothing reaches those.")
        .in_events("network/mixing_factor"),
    figure("active_mixing_factor", "Mixing factor", "", Form::significant, Better::lower,
           figure_of<&RoundRecord::active_mixing_factor>,
           "ρ of the round's graph, among the clients that took part. 0: all agree after one exchange; 1: "
           "some never do.")
        .in_events("network/active_mixing_factor")
        .drawn(Chart::zero_to_one),
    figure("mixing_factor_error", "Mixing factor, error", "", Form::significant, Better::lower,
           figure_of<&RoundRecord::mixing_factor_error>,
           "An eigenvalue of the network lies so near to active_mixing_factor, which is estimated above 200 "
           "clients and never too large."),
    figure("edges", "Links", "links", Form::whole, Better::neither, figure_of<&RoundRecord::edges>,
           "Links that worked."),
    figure("failed_edges", "Failed links", "links", Form::whole, Better::neither,
           figure_of<&RoundRecord::failed_edges>, "Links between clients that took part, and that failed.")
        .in_events("network/failed_edges"),
    figure("absent_clients", "Absent clients", "clients", Form::whole, Better::neither,
           figure_of<&RoundRecord::absent_clients>, "Clients that sat the round out.")
        .in_events("network/absent_clients"),
    figure("sent_bytes", "Sent", "bytes", Form::bytes, Better::lower, figure_of<&RoundRecord::sent_bytes>,
           "Whole messages, once for each receiver.")
        .in_events("network/sent_megabytes")
        .in_summary(Summary::total)
        .compared({7, "sent_bytes", "MB sent"}),
    figure("sent_messages", "Messages", "messages", Form::whole, Better::neither,
           figure_of<&RoundRecord::sent_messages>, "Messages sent, once for each receiver."),
    figure("refused_messages", "Refused messages", "messages", Form::whole, Better::lower,
           figure_of<&RoundRecord::refused_messages>, "What was sent but not believed."),
    figure("missing_messages", "Missing messages", "messages", Form::whole, Better::lower,
           figure_of<&RoundRecord::missing_messages>, "What did not come."),
};

// A figure for people, in a format such as "{:.4f}"; "-" where there is none (NaN).
std::string shown(double figure, std::string_view format);

// What adds up over rounds.
struct RunTotals {
  std::size_t rounds = 0;
  StageSeconds seconds;
  std::uint64_t sent_bytes = 0;
  std::uint64_t images = 0;
};

}  // namespace dfrost
