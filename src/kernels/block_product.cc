#include "kernels/block_product.h"

#include <cassert>

#include "kernels/pair_dots.h"
#include "kernels/tile.h"

namespace dfrost {

BlockSession::BlockSession() : unit_(bf16_unit()) {
  assert(unit_ != Bf16Unit::none);
  if (unit_ == Bf16Unit::tiles) configure_tiles();
}

BlockSession::~BlockSession() {
  if (unit_ == Bf16Unit::tiles) release_tiles();
}

void multiply_block(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles, std::size_t row_tiles,
                    float* out, std::size_t out_stride, const Meanwhile& meanwhile) {
  assert(row_tiles == 1 || row_tiles == 2);
  const auto multiply = bf16_unit() == Bf16Unit::tiles ? multiply_block_on_tiles : multiply_block_by_pairs;
  multiply(left, panel, depth_tiles, row_tiles, out, out_stride, meanwhile);
}

}  // namespace dfrost
