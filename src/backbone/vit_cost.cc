// What a plain vision transformer costs: operations per image, and memory for its packed weights.
#include <cassert>

#include "backbone/vit.h"

namespace dfrost {
namespace {

struct Sizes {
  double tokens, specials, prompts, width, mlp, inner_blocks;

  Sizes(const Geometry& g, std::size_t n)
      : tokens(static_cast<double>(g.tokens(n))),
        specials(static_cast<double>(g.special_tokens)),
        prompts(static_cast<double>(n)),
        width(static_cast<double>(g.width)),
        mlp(static_cast<double>(g.mlp_width)),
        inner_blocks(static_cast<double>(g.depth) - 1) {}

  double square() const { return width * width; }          // one width×width matrix
  double mlp_matrices() const { return 2 * width * mlp; }  // both of a block's MLP
};

double forward_flops(const Geometry& geometry, const Sizes& s) {
  const double embed = static_cast<double>(geometry.patches() * geometry.patch_values()) * s.width;
  const double inner = s.tokens * (4 * s.square() + s.mlp_matrices()) + 2 * s.tokens * s.tokens * s.width;
  const double last = s.tokens * 2 * s.square() + s.specials * (2 * s.square() + s.mlp_matrices()) +
                      2 * s.specials * s.tokens * s.width;
  return 2 * (embed + s.inner_blocks * inner + last);
}

double backward_flops(const Geometry& geometry, const Sizes& s) {
  const double attention = 4 * s.tokens * s.tokens * s.width;
  const double inner = s.tokens * (4 * s.square() + s.mlp_matrices()) + attention;
  // The first block's queries, keys and values go back for the prompts alone.
  const double saved_in_first = geometry.depth > 1 ? (s.tokens - s.prompts) * 3 * s.square() : 0;
  const double last = s.tokens * 2 * s.square() + s.specials * (2 * s.square() + s.mlp_matrices()) +
                      4 * s.specials * s.tokens * s.width;
  return 2 * (s.inner_blocks * inner - saved_in_first + last);
}

}  // namespace

StepFlops vit_flops(const Geometry& geometry, std::size_t prompts) {
  const Sizes sizes(geometry, prompts);
  return {forward_flops(geometry, sizes), backward_flops(geometry, sizes)};
}

std::size_t vit_weight_bytes(const Geometry& g, Precision precision, bool training) {
  assert(precision != Precision::automatic);
  const std::size_t value_bytes = precision == Precision::bf16 ? 2 : 4;
  const std::size_t orientations = training ? 2 : 1;
  // Queries, keys, values and projection are 4·width²; the two layers of the MLP 2·width·mlp_width.
  const std::size_t block_values = 4 * g.width * g.width + 2 * g.width * g.mlp_width;
  const std::size_t block_biases = 5 * g.width + g.mlp_width;
  const std::size_t tokens = (g.special_tokens + g.patches()) * g.width;
  const std::size_t classifiers = g.special_tokens * g.classes * (g.width + 1);
  return value_bytes * (orientations * g.depth * block_values + g.width * g.patch_values()) +
         4 * (g.depth * block_biases + g.width + tokens + classifiers);
}

}  // namespace dfrost
