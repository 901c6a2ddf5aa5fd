// left·right in bf16 with fp32 sums, block by block of 32×32; each finished block goes
// through `finish` while it is in the nearest cache and, where there are tiles, they are at work on the next
// one. The loops keep a slab of the left factor (rows × depth, at most 1 MiB) in the second-level cache and
// stream the right factor past it, fetching the next panel ahead. Every sum runs along k in one fixed order,
// and `finish` sees each block once per part of the depth, in order: a row's result does not depend on the
// number of rows, its place among them or the blocking.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>

#include "kernels/bf16_blocks.h"
#include "kernels/bf16_matrix.h"
#include "kernels/block_product.h"
#include "kernels/buffer.h"

namespace dfrost {

// How much of the left factor is worked on at a time, in tiles.
struct Blocking {
  std::size_t row_tiles = 0;
  std::size_t depth_tiles = 0;
};

// Where blocks of the result lie: `row_tiles` (1 or 2) rows of tiles from `row_tile` on, and panel `panel`.
struct BlockPlace {
  std::size_t row_tile = 0;
  std::size_t row_tiles = 0;
  std::size_t panel = 0;
};

// finish(block, place, opens, rows): does some rows of a block; `opens` where this is the first part of the
// depth; only a `kAccumulates` finish is given more than one. finish.prefetch(place) is called before the
// block's product.
template <class F>
concept BlockFinish = requires(const F& finish, const float* block, const BlockPlace& place, bool opens,
                               const BlockRows& rows) {
  { F::kAccumulates } -> std::convertible_to<bool>;
  finish(block, place, opens, rows);
  finish.prefetch(place);
};

// The last block, whose rows are finished while the tiles work on the next one.
template <BlockFinish Finish>
class PendingBlock {
 public:
  explicit PendingBlock(const Finish& finish) : finish_(finish) {}

  // Where the next block's sums may go: the pending one has the other half.
  float* room() { return rooms_[next_]; }
  // The sums in room() are next, and what was pending is done.
  void put(const BlockPlace& place, bool opens) {
    block_ = rooms_[next_];
    next_ = 1 - next_;
    place_ = place;
    opens_ = opens;
  }
  SideWork work() const {
    const auto run = [](const void* self, std::size_t first, std::size_t end) {
      const auto& pending = *static_cast<const PendingBlock*>(self);
      pending.finish_(pending.block_, pending.place_, pending.opens_, {first, end});
    };
    return {run, this, place_.row_tiles * kTileRows};
  }
  void flush() {
    if (place_.row_tiles > 0) finish_(block_, place_, opens_, {0, place_.row_tiles * kTileRows});
    place_ = {};
  }

 private:
  alignas(64) float rooms_[2][2 * kTileRows * kPanelCols];
  const Finish& finish_;
  std::size_t next_ = 0;
  const float* block_ = nullptr;
  BlockPlace place_;  // of no rows: nothing is pending
  bool opens_ = false;
};

// Deeper products are summed in parts, where their result is fp32 and can be added to.
inline constexpr std::size_t kPartDepthTiles = 32;

Blocking choose_blocking(std::size_t row_tiles, std::size_t depth_tiles, bool may_split_depth);

template <BlockFinish Finish>
void multiply(const TiledMatrix& left, const PanelMatrix& right, const Blocking& blocking,
              const Finish& finish) {
  assert(left.cols() == right.depth());
  assert(Finish::kAccumulates || blocking.depth_tiles >= right.depth_tiles());
  const BlockSession session;
  PendingBlock<Finish> pending(finish);
  const std::size_t row_tiles = left.row_tiles(), depth_tiles = right.depth_tiles();
  const std::size_t tile_bytes = kTileSize * sizeof(Bf16);
  for (std::size_t first_row = 0; first_row < row_tiles; first_row += blocking.row_tiles) {
    const std::size_t end_row = std::min(first_row + blocking.row_tiles, row_tiles);
    for (std::size_t k = 0; k < depth_tiles; k += blocking.depth_tiles) {
      const std::size_t depth = std::min(blocking.depth_tiles, depth_tiles - k);
      for (std::size_t panel = 0; panel < right.panels(); ++panel) {
        const Bf16* const right_tiles = right.panel(panel) + k * kPanelStep;
        // Each of the first eight blocks fetches an eighth of the next panel: all of it is near when it is
        // needed.
        const Bf16* next = panel + 1 < right.panels() ? right.panel(panel + 1) + k * kPanelStep : nullptr;
        std::size_t eighths = 0;
        for (std::size_t row = first_row; row < end_row; row += 2) {
          const BlockPlace place{row, std::min<std::size_t>(2, end_row - row), panel};
          finish.prefetch(place);
          multiply_block(
              {left.tile(row, k), kTileDepth * sizeof(Bf16), tile_bytes, left.col_tiles() * tile_bytes},
              right_tiles, depth, place.row_tiles, pending.room(), kPanelCols, {next, pending.work()});
          pending.put(place, k == 0);
          if (next != nullptr) next = ++eighths < 8 ? next + kPanelStep / 8 : nullptr;
        }
      }
    }
  }
  pending.flush();
}

template <BlockFinish Finish>
void multiply(const TiledMatrix& left, const PanelMatrix& right, const Finish& finish) {
  multiply(left, right, choose_blocking(left.row_tiles(), right.depth_tiles(), Finish::kAccumulates), finish);
}

// The obvious version: plain loops over the same numbers, summed in double.
Matrix<double> multiply_slowly(const TiledMatrix& left, const PanelMatrix& right);

}  // namespace dfrost
