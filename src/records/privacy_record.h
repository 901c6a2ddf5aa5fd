// What clients have told of their pictures, and what an attacker makes of it: what was promised, what was
// tried, and the figures of both.
#pragma once

#include <vector>

#include "measure/figure.h"

namespace dfrost {

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

template <>
const PrivacyRecord* part_of(const RoundRecord& record);
template <>
const MembershipRecord* part_of(const RoundRecord& record);

inline constexpr Figure kPrivacyFigures[] = {
    figure("privacy.epsilon", "Privacy spent, ε of the worst client", "ε", Form::significant, Better::lower,
           figure_of<&PrivacyRecord::epsilon>,
           "What clients have told since the first round, with privacy.kind: (ε, δ) of the client that has "
           "told most, of one picture or of all that it has.")
        .in_events("privacy/epsilon")
        .in_summary(Summary::last)
        .drawn(Chart::from_zero),
    figure("privacy.mean_epsilon", "Privacy spent, mean ε", "ε", Form::significant, Better::lower,
           figure_of<&PrivacyRecord::mean_epsilon>, "The same, mean over clients.")
        .in_events("privacy/mean_epsilon")
        .in_summary(Summary::last),
    figure("privacy.delta", "Privacy spent, δ", "", Form::significant, Better::neither,
           figure_of<&PrivacyRecord::delta>, "privacy.delta, which goes with every ε.")
        .in_summary(Summary::last),
    figure(
        "membership.auc", "Membership inference by loss, AUC", "share", Form::share, Better::lower,
        figure_of<&MembershipRecord::auc>,
        "How often a picture that a client trained on has less loss than a held-out one of its class, under "
        "what the client last sent; with evaluate.membership, mean over the scored clients. 50 %: the "
        "attacker guesses.")
        .in_events("membership/auc")
        .in_summary(Summary::last)
        .drawn(Chart::zero_to_one),
    figure(
        "membership.accuracy", "Membership inference by loss, accuracy", "share", Form::share, Better::lower,
        figure_of<&MembershipRecord::accuracy>,
        "Right answers of an attacker who takes for members what has no more than members' mean loss, half "
        "of the pictures being members.")
        .in_summary(Summary::last),
    figure("membership.shadow_auc", "Membership inference with shadow models, AUC", "share", Form::share,
           Better::lower, figure_of<&MembershipRecord::shadow_auc>,
           "The same as the first, with the loss under other clients' models, which were not trained on the "
           "picture, taken off.")
        .in_events("membership/shadow_auc")
        .in_summary(Summary::last),
};

}  // namespace dfrost
