// What gated attention (d'Ascoli et al. 2021) mixes into attention by content: per head a gate between 0 and
// 1 and, for every two patches, the part of its attention that one pays the other for their places alone, a
// row's parts summing to one. A token without a place, a prompt, neither pays nor gets any of it; in the rows
// of attention an image's prompts come before its patches. Constants of a frozen model: packed once, in
// memory that processes may share.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "dfrost/matrix_view.h"
#include "kernels/bf16.h"
#include "kernels/buffer.h"
#include "kernels/weight_shelf.h"

namespace dfrost {

// Stored as T. `margin` zeros or more come before and after every row, so that a row can be read some numbers
// early or late.
template <typename T, std::size_t margin>
class PositionGates {
 public:
  PositionGates() = default;
  // Room for the scores of as many heads as there are gates, in a place that may be filled already; where it
  // is not, fill() comes before anything else.
  PositionGates(std::vector<float> gates, std::size_t patches, const WeightShelf& shelf)
      : gates_(std::move(gates)), patches_(patches) {
    if (shelf.memory == nullptr) {
      buffer_.resize(numbers());
      return;
    }
    auto room = shelf.memory->room_for(shelf.name, numbers() * sizeof(T));
    is_filled_ = room.is_filled;
    lent_ = std::move(room.data);
  }

  bool is_filled() const { return is_filled_; }
  // scores [heads·patches, patches].
  void fill(MatrixView<const float> scores) {
    assert(!is_filled_ && scores.rows() == gates_.size() * patches_ && scores.cols() == patches_);
    T* const all = data();
    std::fill_n(all, numbers(), T{});
    for (std::size_t r = 0; r < scores.rows(); ++r) {
      for (std::size_t c = 0; c < patches_; ++c) all[margin + r * stride() + c] = rounded(scores(r, c));
    }
  }

  std::size_t patches() const { return patches_; }
  float gate(std::size_t head) const { return gates_[head]; }
  const T* row(std::size_t head, std::size_t patch) const {
    return data() + margin + (head * patches_ + patch) * stride();
  }
  std::size_t bytes() const { return numbers() * sizeof(T) + gates_.size() * sizeof(float); }

 private:
  // One row's zeros are those before the next.
  std::size_t stride() const { return patches_ + margin; }
  std::size_t numbers() const { return margin + gates_.size() * patches_ * stride(); }
  static T rounded(float value) {
    if constexpr (std::is_same_v<T, Bf16>) {
      return to_bf16(value);
    } else {
      return value;
    }
  }
  T* data() { return lent_ ? reinterpret_cast<T*>(lent_.get()) : buffer_.data(); }
  const T* data() const { return lent_ ? reinterpret_cast<const T*>(lent_.get()) : buffer_.data(); }

  std::vector<float> gates_;
  std::size_t patches_ = 0;
  AlignedBuffer<T> buffer_;
  std::shared_ptr<std::byte> lent_;  // instead of the buffer
  bool is_filled_ = false;
};

}  // namespace dfrost
