// Cross-entropy over class logits, with or without the domain mask (spec: the class mask), and what was got
// right with and without it. Exponentials and sums in double, in a fixed order.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dfrost/matrix_view.h"

namespace dfrost {

enum class ClassMask {
  domain,  // logits outside the sample's own domain count as −∞
  none,
};
std::string_view to_string(ClassMask mask);
ClassMask parse_class_mask(std::string_view word);

// Classes [first, first + count).
struct ClassRange {
  std::size_t first = 0;
  std::size_t count = 0;

  bool contains(std::size_t c) const { return c >= first && c - first < count; }
};

struct Target {
  std::size_t label = 0;
  ClassRange domain;  // the classes of the sample's own domain, label among them
};

struct Outcome {
  double loss = 0;  // under the mask asked for
  bool correct_masked = false;
  bool correct_unmasked = false;
};

// outcomes[i] for row i of logits [images, classes]. d_logits, unless empty, becomes the gradient of the mean
// loss over the rows. Of equal logits the first wins.
void cross_entropy(MatrixView<const float> logits, std::span<const Target> targets, ClassMask mask,
                   std::span<Outcome> outcomes, MatrixView<float> d_logits);

}  // namespace dfrost
