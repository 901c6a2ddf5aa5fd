#include "backbone/flops.h"

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

}  // namespace

double forward_flops(const Geometry& geometry, std::size_t prompts) {
  const Sizes s(geometry, prompts);
  const double embed = static_cast<double>(geometry.patches() * geometry.patch_values()) * s.width;
  const double inner = s.tokens * (4 * s.square() + s.mlp_matrices()) + 2 * s.tokens * s.tokens * s.width;
  const double last = s.tokens * 2 * s.square() + s.specials * (2 * s.square() + s.mlp_matrices()) +
                      2 * s.specials * s.tokens * s.width;
  return 2 * (embed + s.inner_blocks * inner + last);
}

double backward_flops(const Geometry& geometry, std::size_t prompts) {
  const Sizes s(geometry, prompts);
  const double attention = 4 * s.tokens * s.tokens * s.width;
  const double inner = s.tokens * (4 * s.square() + s.mlp_matrices()) + attention;
  // The first block's queries, keys and values go back for the prompts alone.
  const double saved_in_first = geometry.depth > 1 ? (s.tokens - s.prompts) * 3 * s.square() : 0;
  const double last = s.tokens * 2 * s.square() + s.specials * (2 * s.square() + s.mlp_matrices()) +
                      4 * s.specials * s.tokens * s.width;
  return 2 * (s.inner_blocks * inner - saved_in_first + last);
}

}  // namespace dfrost
