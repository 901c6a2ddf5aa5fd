// What is measured of a round's merges beside the merges themselves, and its figures.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/figure.h"

namespace dfrost {

// One merge, as the theory sees it; kept only with diagnostics.theory.
struct TheoryRecord {
  std::size_t checked = 0;   // merges
  std::size_t violated = 0;  // in which Theorem 1's bound did not hold
  double largest_ratio = 0;  // min Δ over the bound: below 1 where it holds
};

// How many pictures stand behind the rows of heads (merge.head = "class-mass").
struct ClassMassRecord {
  double spread = 0;  // over clients: 1/M where one has all of a class's mass, 1 where all have as much
  std::vector<double> total;  // of each class, over all clients
};

template <>
const TheoryRecord* part_of(const RoundRecord& record);
template <>
const ClassMassRecord* part_of(const RoundRecord& record);

inline constexpr Figure kMergeFigures[] = {
    figure("theory.checked", "Merges checked", "merges", Form::whole, Better::neither,
           figure_of<&TheoryRecord::checked>, "Merges held against Theorem 1, with diagnostics.theory."),
    figure("theory.violated", "Bounds broken", "merges", Form::whole, Better::lower,
           figure_of<&TheoryRecord::violated>, "Merges in which the theorem's bound did not hold."),
    figure("theory.largest_ratio", "Largest ratio to the bound", "", Form::significant, Better::lower,
           figure_of<&TheoryRecord::largest_ratio>,
           "The smallest step of a merge over what the theorem allows, the largest of the round; below 1 "
           "where it holds.")
        .in_events("theory/largest_ratio"),
    figure(
        "class_mass.spread", "Spread of class mass", "share", Form::share, Better::neither,
        figure_of<&ClassMassRecord::spread>,
        "How evenly the clients have mass of a class, mean over classes, with merge.head = class-mass: 100 "
        "% where all have as much, one client's share where one has all.")
        .in_events("merge/class_mass_spread")
        .in_summary(Summary::last)
        .drawn(Chart::zero_to_one),
};

}  // namespace dfrost
