// What hostile clients did to the others in a round, what the others did about it, and the figures of both.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "measure/evaluation_record.h"
#include "measure/figure.h"
#include "network/graph.h"

namespace dfrost {

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

template <>
const AttackRecord* part_of(const RoundRecord& record);
template <>
const AttackRecord::Scores* part_of(const RoundRecord& record);
template <>
const DefenceRecord* part_of(const RoundRecord& record);

inline constexpr Figure kAttackFigures[] = {
    figure("attack.honest_accuracy_masked.mean", "Honest clients, masked", "share", Form::share,
           Better::higher, figure_of<&AttackRecord::Scores::masked, &Spread::mean>,
           "Accuracy of the scored clients that are not hostile, mean, with attack.kind.")
        .in_events("attack/honest_accuracy_masked")
        .in_summary(Summary::last),
    figure("attack.honest_accuracy_masked.min", "Honest clients, masked, worst", "share", Form::share,
           Better::higher, figure_of<&AttackRecord::Scores::masked, &Spread::min>, "Of the worst of them.")
        .in_events("attack/honest_accuracy_masked_worst")
        .in_summary(Summary::last),
    figure("attack.honest_accuracy_unmasked.mean", "Honest clients, unmasked", "share", Form::share,
           Better::higher, figure_of<&AttackRecord::Scores::unmasked, &Spread::mean>,
           "The same where all classes compete.")
        .in_summary(Summary::last),
    figure("attack.mass", "Mass of hostile senders", "share", Form::share, Better::lower,
           figure_of<&AttackRecord::mass>,
           "What hostile senders' prompts got of the mass in the plans of honest clients' merges, mean over "
           "these.")
        .in_events("attack/mass")
        .in_summary(Summary::last),
    figure("attack.distance", "Distance from the honest barycenter", "W₂²", Form::significant, Better::lower,
           figure_of<&AttackRecord::distance>,
           "W₂² of honest clients' prompts after the merge to the barycenter of what honest clients had "
           "before it, mean.")
        .in_events("attack/distance")
        .in_summary(Summary::last),
    figure("attack.backdoor_success", "Backdoor success", "share", Form::share, Better::lower,
           figure_of<&AttackRecord::backdoor_success>,
           "Test pictures of other classes that scored honest clients take for attack.target once the mark "
           "is in their corner, with attack.kind = backdoor.")
        .in_events("attack/backdoor_success")
        .in_summary(Summary::last),
    figure("defence.rejected", "Rejected senders", "letters", Form::whole, Better::neither,
           figure_of<&DefenceRecord::rejected>, "Letters not believed, by defence.reject.")
        .in_events("defence/rejected"),
    figure("defence.clipped_prompts", "Clipped prompt sets", "letters", Form::whole, Better::neither,
           figure_of<&DefenceRecord::clipped_prompts>,
           "Received prompt sets moved towards the receiver's own, by defence.clip or clip_share.")
        .in_events("defence/clipped_prompts"),
    figure("defence.clipped_heads", "Clipped heads", "letters", Form::whole, Better::neither,
           figure_of<&DefenceRecord::clipped_heads>,
           "Received heads moved towards the receiver's own, by defence.head_clip or head_clip_share.")
        .in_events("defence/clipped_heads"),
    figure("defence.skipped_heads", "Heads left out", "letters", Form::whole, Better::neither,
           figure_of<&DefenceRecord::skipped_heads>,
           "Heads left out for being the furthest, by defence.head_nearest.")
        .in_events("defence/skipped_heads"),
    figure("defence.softened_mass", "Softened mass", "share", Form::share, Better::neither,
           figure_of<&DefenceRecord::softened_mass>,
           "Mass that prompts far away lost to nearer ones by defence.median, mean over merges.")
        .in_events("defence/softened_mass"),
};

}  // namespace dfrost
