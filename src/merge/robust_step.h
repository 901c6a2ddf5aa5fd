// What a step of the OT merge does about rows that are too far away to be believed: leave the furthest mass
// out, or let rows weigh less the further they are from the prompt they are merged into.
#pragma once

#include <span>
#include <vector>

#include "merge/neighbourhood.h"
#include "ot/matrix.h"

namespace dfrost {

// Masses that sum to one, of which none is more than mass/(1 − share): those that make the step's objective
// least. The rows that cost most lose theirs, by −log Σ_i exp(−sharpness·distance(i, a)); of rows that cost
// the same each loses the same share. distances [n, N].
std::vector<double> trimmed_masses(const DoubleMatrix& distances, double sharpness,
                                   std::span<const double> mass, double share);

// How far a received row is from the nearest row of the first sender: the median over their mass, which less
// than half of it cannot move at will. 0 where nothing was received.
double usual_distance(const Neighbourhood& all);

// Weiszfeld's weights within a radius: a row that is further away keeps radius/distance of its weight; then
// all are scaled to sum to `mass` again. Returns what was taken. Nothing changes where none is further.
double soften(std::span<double> weights, std::span<const double> squared_distances, double radius,
              double mass);

}  // namespace dfrost
