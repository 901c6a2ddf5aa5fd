// What is measured of a run, round by round, and the table of its figures: whatever is written or shown of a
// round comes from here. Plain data. A new figure is a field of RoundRecord and a row of kFigures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/evaluation.h"
#include "measure/merge_view.h"
#include "network/graph.h"
#include "records/figure.h"

namespace dfrost {

// Wall clock, all clients. Where stages go on side by side, their time is split by what each took.
struct StageSeconds {
  double train = 0;
  double exchange = 0;  // encode, send, receive, check
  double merge = 0;     // prompts and all else, without what is measured of it
  double evaluate = 0;
  double measure = 0;  // errors of consensus and merges, mixing factor, views
  double total() const { return train + exchange + merge + evaluate + measure; }
  StageSeconds& operator+=(const StageSeconds& other);
};

// One merge, as the theory sees it; kept only with diagnostics.theory.
struct TheoryRecord {
  std::size_t checked = 0;   // merges
  std::size_t violated = 0;  // in which Theorem 1's bound did not hold
  double largest_ratio = 0;  // min Δ over the bound: below 1 where it holds
};

// Who could talk to whom.
struct RoundGraph {
  std::vector<Edge> links;   // that worked
  std::vector<Edge> failed;  // between clients that took part
  std::vector<ClientId> absent;
};

// How many pictures stand behind the rows of heads (merge.head = "class-mass").
struct ClassMassRecord {
  double spread = 0;  // over clients: 1/M where one has all of a class's mass, 1 where all have as much
  std::vector<double> total;  // of each class, over all clients
};

// What clients have told of their pictures since the first round (privacy.kind): (ε, δ) of each.
struct PrivacyRecord {
  double epsilon = 0;  // the largest of the clients'
  double mean_epsilon = 0;
  double delta = 0;
  std::vector<double> clients;  // ε of each, in their order; 0 where one has told nothing
};

// How well an attacker tells pictures that clients trained on from held-out ones, mean over the scored
// clients (evaluate.membership): 0.5 is guessing.
struct MembershipRecord {
  double auc = 0.5;
  double accuracy = 0.5;
  double shadow_auc = 0.5;  // with other clients' models to compare with
};

// What hostile clients ([attack]) did to the others.
struct AttackRecord {
  std::vector<ClientId> clients;  // who they are
  // Mean over merges of honest clients: the share of the plan's mass that hostile senders got.
  double mass = std::numeric_limits<double>::quiet_NaN();
  // Mean over honest clients: W₂² of their prompts to the barycenter of what honest clients had trained.
  double distance = std::numeric_limits<double>::quiet_NaN();
  struct Scores {  // of the honest clients that were scored
    Spread masked, unmasked;
  };
  std::optional<Scores> honest;  // in rounds that evaluate
  std::optional<double> backdoor_success;
};

// Whom merges did not take at their word ([defence]).
struct DefenceRecord {
  struct Doubt {
    ClientId client = 0, sender = 0;
  };
  std::vector<Doubt> rejected, clipped_prompts, clipped_heads, skipped_heads;
  double softened_mass = 0;  // mean over merges
};

// Steps along tangent kernels (method.round = "ntk"), means over the clients that took one.
struct KernelRecord {
  double pictures = 0;     // whose Jacobians there were
  double steps = 0;        // of ntk.steps
  double evaluations = 0;  // products with the kernel that the solver took
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

namespace figure_of {

// Where a figure lies in a round's record: nothing where the round has no such part.
template <auto field>
std::optional<double> round(const RoundRecord& record) {
  return static_cast<double>(record.*field);
}
template <auto field>
std::optional<double> stage(const RoundRecord& record) {
  return record.seconds.*field;
}
inline std::optional<double> all_stages(const RoundRecord& record) { return record.seconds.total(); }
template <auto field>
std::optional<double> evaluation(const RoundRecord& record) {
  if (!record.evaluation) return std::nullopt;
  return static_cast<double>((*record.evaluation).*field);
}
template <auto spread, auto field>
std::optional<double> clients(const RoundRecord& record) {
  if (!record.evaluation) return std::nullopt;
  return (*record.evaluation).*spread.*field;
}
template <auto field>
std::optional<double> theory(const RoundRecord& record) {
  if (!record.theory) return std::nullopt;
  return static_cast<double>((*record.theory).*field);
}

template <auto field>
std::optional<double> privacy(const RoundRecord& record) {
  if (!record.privacy) return std::nullopt;
  return (*record.privacy).*field;
}

template <auto field>
std::optional<double> membership(const RoundRecord& record) {
  if (!record.membership) return std::nullopt;
  return (*record.membership).*field;
}

template <auto field>
std::optional<double> attack(const RoundRecord& record) {
  if (!record.attack) return std::nullopt;
  return (*record.attack).*field;
}
template <auto spread, auto field>
std::optional<double> honest(const RoundRecord& record) {
  if (!record.attack || !record.attack->honest) return std::nullopt;
  return (*record.attack->honest).*spread.*field;
}
template <auto field>
std::optional<double> doubts(const RoundRecord& record) {
  if (!record.defence) return std::nullopt;
  return static_cast<double>(((*record.defence).*field).size());
}
inline std::optional<double> softened_mass(const RoundRecord& record) {
  if (!record.defence) return std::nullopt;
  return record.defence->softened_mass;
}

template <auto field>
std::optional<double> kernel(const RoundRecord& record) {
  if (!record.kernel) return std::nullopt;
  return (*record.kernel).*field;
}

inline std::optional<double> mass_spread(const RoundRecord& record) {
  if (!record.class_mass) return std::nullopt;
  return record.class_mass->spread;
}

}  // namespace figure_of

// In the order of metrics.jsonl.
inline constexpr Figure kFigures[] = {
    figure("train_loss", "Training loss", "nats", Form::decimals, Better::lower,
           figure_of::round<&RoundRecord::train_loss>,
           "Cross-entropy of each client's last epoch, mean over those that trained and did not diverge.")
        .in_events("loss/train")
        .in_summary(Summary::last),
    figure("images", "Pictures trained on", "pictures", Form::whole, Better::neither,
           figure_of::round<&RoundRecord::images>,
           "Seen in training by all clients, each once per epoch, or as far as train.max_steps lets them "
           "come.")
        .in_summary(Summary::total),
    figure("diverged_clients", "Diverged clients", "clients", Form::whole, Better::lower,
           figure_of::round<&RoundRecord::diverged_clients>,
           "Clients whose update was not finite, or larger than a message may be; they went back to the "
           "state of "
           "before their last merge, and to that of a kept optimizer."),
    figure("consensus_error", "Consensus error", "W₂²", Form::significant, Better::lower,
           figure_of::round<&RoundRecord::consensus_error>,
           "W₂² of the clients' prompts to the network's barycenter, mean. Falling: they come to agree.")
        .in_events("consensus/error")
        .in_summary(Summary::last)
        .compared({5, "consensus_error", "consensus"})
        .drawn(Chart::log),
    figure("consensus_error_total", "Consensus error, all clients", "W₂²", Form::significant, Better::lower,
           figure_of::round<&RoundRecord::consensus_error_total>,
           "The same as a sum over clients, as the paper plots it.")
        .in_events("consensus/error_total"),
    figure("consensus_error_gain", "Consensus error, next step", "W₂²", Form::significant, Better::lower,
           figure_of::round<&RoundRecord::consensus_error_gain>,
           "What one more step towards the barycenter would at least take off the consensus error: distances "
           "are exact, but of a large network the barycenter is cut off after some steps."),
    figure(
        "consensus_error_floor", "Consensus error, at least", "W₂²", Form::significant, Better::neither,
        figure_of::round<&RoundRecord::consensus_error_floor>,
        "What the consensus error would be at least around any barycenter: half of W₂² between clients, in "
        "pairs."),
    figure("merge_error", "Merge error", "W₂²", Form::significant, Better::neither,
           figure_of::round<&RoundRecord::merge_error>,
           "W₂² between what came in and what the merge made of it, mean over merges.")
        .in_events("merge/error")
        .drawn(Chart::from_zero)
        .of_merges(),
    figure("off_index_mass", "Off-index mass", "share", Form::share, Better::neither,
           figure_of::round<&RoundRecord::off_index_mass>,
           "Share of mass that left its own index, mean over merges. At 0, averaging by index would have "
           "done the same.")
        .in_events("merge/off_index_mass")
        .in_summary(Summary::last)
        .drawn(Chart::from_zero)
        .of_merges(),
    figure("dead_prompts", "Dead prompts", "prompts", Form::whole, Better::neither,
           figure_of::round<&RoundRecord::dead_prompts>,
           "Merged prompts that no mass went to in some step of their merge, over all merges of the round, "
           "whatever merge.dead then did with them.")
        .in_events("merge/dead_prompts")
        .drawn(Chart::from_zero)
        .of_merges(),
    figure("prompts_per_client", "Prompts per client", "prompts", Form::significant, Better::neither,
           figure_of::round<&RoundRecord::prompts_per_client>,
           "Prompts that a client holds after the round, mean; around a server, those that it hands out.")
        .in_events("pool/prompts_per_client")
        .drawn(Chart::log),
    figure("dropped_prompts", "Dropped prompts", "prompts", Form::whole, Better::neither,
           figure_of::round<&RoundRecord::dropped_prompts>,
           "Prompts beyond merge.pool_limit, over all pools that grew in the round.")
        .in_events("pool/dropped_prompts"),
    figure("mixing_factor", "Mixing factor, all clients", "", Form::significant, Better::lower,
           figure_of::round<&RoundRecord::mixing_factor>,
           "ρ of the round's graph; 1 wherever clients are absent, since nothing reaches those.")
        .in_events("network/mixing_factor"),
    figure("active_mixing_factor", "Mixing factor", "", Form::significant, Better::lower,
           figure_of::round<&RoundRecord::active_mixing_factor>,
           "ρ of the round's graph, among the clients that took part. 0: all agree after one exchange; 1: "
           "some never do.")
        .in_events("network/active_mixing_factor")
        .drawn(Chart::zero_to_one),
    figure("mixing_factor_error", "Mixing factor, error", "", Form::significant, Better::lower,
           figure_of::round<&RoundRecord::mixing_factor_error>,
           "An eigenvalue of the network lies so near to active_mixing_factor, which is estimated above 200 "
           "clients and never too large."),
    figure("edges", "Links", "links", Form::whole, Better::neither, figure_of::round<&RoundRecord::edges>,
           "Links that worked."),
    figure("failed_edges", "Failed links", "links", Form::whole, Better::neither,
           figure_of::round<&RoundRecord::failed_edges>,
           "Links between clients that took part, and that failed.")
        .in_events("network/failed_edges"),
    figure("absent_clients", "Absent clients", "clients", Form::whole, Better::neither,
           figure_of::round<&RoundRecord::absent_clients>, "Clients that sat the round out.")
        .in_events("network/absent_clients"),
    figure("sent_bytes", "Sent", "bytes", Form::bytes, Better::lower,
           figure_of::round<&RoundRecord::sent_bytes>, "Whole messages, once for each receiver.")
        .in_events("network/sent_megabytes")
        .in_summary(Summary::total)
        .compared({7, "sent_bytes", "MB sent"}),
    figure("sent_messages", "Messages", "messages", Form::whole, Better::neither,
           figure_of::round<&RoundRecord::sent_messages>, "Messages sent, once for each receiver."),
    figure("refused_messages", "Refused messages", "messages", Form::whole, Better::lower,
           figure_of::round<&RoundRecord::refused_messages>, "What was sent but not believed."),
    figure("missing_messages", "Missing messages", "messages", Form::whole, Better::lower,
           figure_of::round<&RoundRecord::missing_messages>, "What did not come."),
    figure("seconds.train", "Time, train", "s", Form::seconds, Better::lower,
           figure_of::stage<&StageSeconds::train>, "Training of all clients.")
        .in_events("seconds/train")
        .in_summary(Summary::total),
    figure("seconds.exchange", "Time, exchange", "s", Form::seconds, Better::lower,
           figure_of::stage<&StageSeconds::exchange>, "Encoding, sending, receiving and checking messages.")
        .in_events("seconds/exchange")
        .in_summary(Summary::total),
    figure("seconds.merge", "Time, merge", "s", Form::seconds, Better::lower,
           figure_of::stage<&StageSeconds::merge>, "The merge alone, of prompts and all else.")
        .in_events("seconds/merge")
        .in_summary(Summary::total),
    figure("seconds.evaluate", "Time, evaluate", "s", Form::seconds, Better::lower,
           figure_of::stage<&StageSeconds::evaluate>, "Scoring on the test set.")
        .in_events("seconds/evaluate")
        .in_summary(Summary::total),
    figure("seconds.measure", "Time, measure", "s", Form::seconds, Better::lower,
           figure_of::stage<&StageSeconds::measure>,
           "The consensus error and the network model, the mixing factor, and of every merge its error and "
           "its view.")
        .in_events("seconds/measure")
        .in_summary(Summary::total),
    figure("seconds.total", "Time", "s", Form::seconds, Better::lower, figure_of::all_stages,
           "Wall clock of all stages; writing records and checkpoints is not in it.")
        .in_events("seconds/total")
        .in_summary(Summary::total)
        .compared({6, "seconds", "seconds"}),
    figure("evaluation.samples", "Test pictures", "pictures", Form::whole, Better::neither,
           figure_of::evaluation<&EvaluationRecord::samples>, "Test pictures that each client was scored on.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_masked.mean", "Accuracy, masked", "share", Form::share, Better::higher,
           figure_of::clients<&EvaluationRecord::accuracy_masked, &Spread::mean>,
           "Mean over the scored clients, on the global test set; only the classes of a picture's own domain "
           "compete.")
        .in_events("accuracy/masked")
        .in_summary(Summary::last)
        .compared({1, "accuracy_masked", "masked %", "Masked, %"}),
    figure("evaluation.accuracy_masked.std", "Accuracy, masked, deviation", "share", Form::share,
           Better::neither, figure_of::clients<&EvaluationRecord::accuracy_masked, &Spread::std>,
           "Standard deviation over the scored clients.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_masked.min", "Accuracy, masked, worst client", "share", Form::share,
           Better::higher, figure_of::clients<&EvaluationRecord::accuracy_masked, &Spread::min>,
           "Of the worst of them.")
        .in_events("accuracy/masked_worst_client")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_masked.max", "Accuracy, masked, best client", "share", Form::share,
           Better::higher, figure_of::clients<&EvaluationRecord::accuracy_masked, &Spread::max>,
           "Of the best of them.")
        .in_events("accuracy/masked_best_client")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_unmasked.mean", "Accuracy, unmasked", "share", Form::share, Better::higher,
           figure_of::clients<&EvaluationRecord::accuracy_unmasked, &Spread::mean>,
           "Mean over the scored clients, on the global test set; all classes compete.")
        .in_events("accuracy/unmasked")
        .in_summary(Summary::last)
        .compared({2, "accuracy_unmasked", "unmasked %", "Unmasked, %"}),
    figure("evaluation.accuracy_unmasked.std", "Accuracy, unmasked, deviation", "share", Form::share,
           Better::neither, figure_of::clients<&EvaluationRecord::accuracy_unmasked, &Spread::std>,
           "Standard deviation over the scored clients.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_unmasked.min", "Accuracy, unmasked, worst client", "share", Form::share,
           Better::higher, figure_of::clients<&EvaluationRecord::accuracy_unmasked, &Spread::min>,
           "Of the worst of them.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_unmasked.max", "Accuracy, unmasked, best client", "share", Form::share,
           Better::higher, figure_of::clients<&EvaluationRecord::accuracy_unmasked, &Spread::max>,
           "Of the best of them.")
        .in_summary(Summary::last),
    figure("evaluation.loss", "Test loss", "nats", Form::decimals, Better::lower,
           figure_of::evaluation<&EvaluationRecord::loss>,
           "Cross-entropy on the test set, mean over the scored clients.")
        .in_events("loss/test")
        .in_summary(Summary::last),
    figure(
        "evaluation.network_accuracy_masked", "Network model, masked", "share", Form::share, Better::higher,
        figure_of::evaluation<&EvaluationRecord::network_accuracy_masked>,
        "Accuracy of the network model: the barycenter of all clients' prompts with the mean of their heads.")
        .in_events("accuracy/masked_network_model")
        .in_summary(Summary::last)
        .compared({3, "network_accuracy_masked", "network %", "Network, masked, %"}),
    figure("evaluation.network_accuracy_unmasked", "Network model, unmasked", "share", Form::share,
           Better::higher, figure_of::evaluation<&EvaluationRecord::network_accuracy_unmasked>,
           "The same where all classes compete.")
        .in_events("accuracy/unmasked_network_model")
        .in_summary(Summary::last)
        .compared({4, "network_accuracy_unmasked", "network unmasked %", "Network, unmasked, %"}),
    figure("evaluation.network_loss", "Network model, test loss", "nats", Form::decimals, Better::lower,
           figure_of::evaluation<&EvaluationRecord::network_loss>,
           "Cross-entropy of the network model on the test set.")
        .in_events("loss/test_network_model")
        .in_summary(Summary::last),
    figure("theory.checked", "Merges checked", "merges", Form::whole, Better::neither,
           figure_of::theory<&TheoryRecord::checked>,
           "Merges held against Theorem 1, with diagnostics.theory."),
    figure("theory.violated", "Bounds broken", "merges", Form::whole, Better::lower,
           figure_of::theory<&TheoryRecord::violated>, "Merges in which the theorem's bound did not hold."),
    figure("theory.largest_ratio", "Largest ratio to the bound", "", Form::significant, Better::lower,
           figure_of::theory<&TheoryRecord::largest_ratio>,
           "The smallest step of a merge over what the theorem allows, the largest of the round; below 1 "
           "where it holds.")
        .in_events("theory/largest_ratio"),
    figure(
        "class_mass.spread", "Spread of class mass", "share", Form::share, Better::neither,
        figure_of::mass_spread,
        "How evenly the clients have mass of a class, mean over classes, with merge.head = class-mass: 100 "
        "% where all have as much, one client's share where one has all.")
        .in_events("merge/class_mass_spread")
        .in_summary(Summary::last)
        .drawn(Chart::zero_to_one),
    figure("privacy.epsilon", "Privacy spent, ε of the worst client", "ε", Form::significant, Better::lower,
           figure_of::privacy<&PrivacyRecord::epsilon>,
           "What clients have told since the first round, with privacy.kind: (ε, δ) of the client that has "
           "told most, of one picture or of all that it has.")
        .in_events("privacy/epsilon")
        .in_summary(Summary::last)
        .drawn(Chart::from_zero),
    figure("privacy.mean_epsilon", "Privacy spent, mean ε", "ε", Form::significant, Better::lower,
           figure_of::privacy<&PrivacyRecord::mean_epsilon>, "The same, mean over clients.")
        .in_events("privacy/mean_epsilon")
        .in_summary(Summary::last),
    figure("privacy.delta", "Privacy spent, δ", "", Form::significant, Better::neither,
           figure_of::privacy<&PrivacyRecord::delta>, "privacy.delta, which goes with every ε.")
        .in_summary(Summary::last),
    figure(
        "membership.auc", "Membership inference by loss, AUC", "share", Form::share, Better::lower,
        figure_of::membership<&MembershipRecord::auc>,
        "How often a picture that a client trained on has less loss than a held-out one of its class, under "
        "what the client last sent; with evaluate.membership, mean over the scored clients. 50 %: the "
        "attacker guesses.")
        .in_events("membership/auc")
        .in_summary(Summary::last)
        .drawn(Chart::zero_to_one),
    figure(
        "membership.accuracy", "Membership inference by loss, accuracy", "share", Form::share, Better::lower,
        figure_of::membership<&MembershipRecord::accuracy>,
        "Right answers of an attacker who takes for members what has no more than members' mean loss, half "
        "of the pictures being members.")
        .in_summary(Summary::last),
    figure("membership.shadow_auc", "Membership inference with shadow models, AUC", "share", Form::share,
           Better::lower, figure_of::membership<&MembershipRecord::shadow_auc>,
           "The same as the first, with the loss under other clients' models, which were not trained on the "
           "picture, taken off.")
        .in_events("membership/shadow_auc")
        .in_summary(Summary::last),
    figure("attack.honest_accuracy_masked.mean", "Honest clients, masked", "share", Form::share,
           Better::higher, figure_of::honest<&AttackRecord::Scores::masked, &Spread::mean>,
           "Accuracy of the scored clients that are not hostile, mean, with attack.kind.")
        .in_events("attack/honest_accuracy_masked")
        .in_summary(Summary::last),
    figure("attack.honest_accuracy_masked.min", "Honest clients, masked, worst", "share", Form::share,
           Better::higher, figure_of::honest<&AttackRecord::Scores::masked, &Spread::min>,
           "Of the worst of them.")
        .in_events("attack/honest_accuracy_masked_worst")
        .in_summary(Summary::last),
    figure("attack.honest_accuracy_unmasked.mean", "Honest clients, unmasked", "share", Form::share,
           Better::higher, figure_of::honest<&AttackRecord::Scores::unmasked, &Spread::mean>,
           "The same where all classes compete.")
        .in_summary(Summary::last),
    figure("attack.mass", "Mass of hostile senders", "share", Form::share, Better::lower,
           figure_of::attack<&AttackRecord::mass>,
           "What hostile senders' prompts got of the mass in the plans of honest clients' merges, mean over "
           "these.")
        .in_events("attack/mass")
        .in_summary(Summary::last),
    figure("attack.distance", "Distance from the honest barycenter", "W₂²", Form::significant, Better::lower,
           figure_of::attack<&AttackRecord::distance>,
           "W₂² of honest clients' prompts after the merge to the barycenter of what honest clients had "
           "before it, mean.")
        .in_events("attack/distance")
        .in_summary(Summary::last),
    figure("attack.backdoor_success", "Backdoor success", "share", Form::share, Better::lower,
           figure_of::attack<&AttackRecord::backdoor_success>,
           "Test pictures of other classes that scored honest clients take for attack.target once the mark "
           "is in their corner, with attack.kind = backdoor.")
        .in_events("attack/backdoor_success")
        .in_summary(Summary::last),
    figure("defence.rejected", "Rejected senders", "letters", Form::whole, Better::neither,
           figure_of::doubts<&DefenceRecord::rejected>, "Letters not believed, by defence.reject.")
        .in_events("defence/rejected"),
    figure("defence.clipped_prompts", "Clipped prompt sets", "letters", Form::whole, Better::neither,
           figure_of::doubts<&DefenceRecord::clipped_prompts>,
           "Received prompt sets moved towards the receiver's own, by defence.clip or clip_share.")
        .in_events("defence/clipped_prompts"),
    figure("defence.clipped_heads", "Clipped heads", "letters", Form::whole, Better::neither,
           figure_of::doubts<&DefenceRecord::clipped_heads>,
           "Received heads moved towards the receiver's own, by defence.head_clip or head_clip_share.")
        .in_events("defence/clipped_heads"),
    figure("defence.skipped_heads", "Heads left out", "letters", Form::whole, Better::neither,
           figure_of::doubts<&DefenceRecord::skipped_heads>,
           "Heads left out for being the furthest, by defence.head_nearest.")
        .in_events("defence/skipped_heads"),
    figure("defence.softened_mass", "Softened mass", "share", Form::share, Better::neither,
           figure_of::softened_mass,
           "Mass that prompts far away lost to nearer ones by defence.median, mean over merges.")
        .in_events("defence/softened_mass"),
    figure("kernel.pictures", "Pictures of a kernel", "pictures", Form::significant, Better::neither,
           figure_of::kernel<&KernelRecord::pictures>,
           "With method.round = ntk: pictures whose Jacobians a client had, its own among them, mean."),
    figure("kernel.steps", "Kernel steps", "steps", Form::significant, Better::neither,
           figure_of::kernel<&KernelRecord::steps>,
           "Steps along its kernel that a client took, out of ntk.steps, mean.")
        .in_events("ntk/steps")
        .drawn(Chart::from_zero),
    figure("kernel.evaluations", "Kernel products", "products", Form::significant, Better::lower,
           figure_of::kernel<&KernelRecord::evaluations>,
           "Products with its kernel that a client's solver took, mean.")
        .in_events("ntk/evaluations"),
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
