#include "kernels/small_product.h"

#include <dnnl.h>

#include <array>
#include <cassert>
#include <cstddef>

#include "kernels/onednn_error.h"
#include "kernels/onednn_section.h"

namespace dfrost {
namespace {

// What decides which code oneDNN runs, and so whether it has to make some.
struct SmallShape {
  Transpose ta = Transpose::no, tb = Transpose::no;
  std::size_t rows = 0, cols = 0, inner = 0;
  bool accumulate = false;
  bool operator==(const SmallShape&) const = default;
};

// Remembers the shapes that this thread has computed. One that was forgotten is only looked at again.
bool is_new(const SmallShape& shape) {
  thread_local std::array<SmallShape, 64> known = {};
  const std::size_t mixed = shape.rows * 7 + shape.cols * 31 + shape.inner * 127 +
                            (shape.ta == Transpose::yes ? 1 : 0) + (shape.tb == Transpose::yes ? 2 : 0) +
                            (shape.accumulate ? 4 : 0);
  SmallShape& place = known[mixed % known.size()];
  if (place == shape) return false;
  place = shape;
  return true;
}

}  // namespace

void small_product(Transpose ta, Transpose tb, MatrixView<const float> a, MatrixView<const float> b,
                   MatrixView<float> out, const ProductOptions& options) {
  assert((ta == Transpose::no ? a.rows() : a.cols()) == out.rows());
  assert((tb == Transpose::no ? b.cols() : b.rows()) == out.cols());
  const std::size_t inner = ta == Transpose::no ? a.cols() : a.rows();
  assert((tb == Transpose::no ? b.rows() : b.cols()) == inner);
  if (out.empty()) return;
  if (is_new({ta, tb, out.rows(), out.cols(), inner, options.accumulate})) require_room_for_code();
  const OneDnnSection section;
  const auto dim = [](std::size_t n) { return static_cast<dnnl_dim_t>(n); };
  const auto status =
      dnnl_sgemm(static_cast<char>(ta), static_cast<char>(tb), dim(out.rows()), dim(out.cols()), dim(inner),
                 options.scale, a.data(), dim(a.stride()), b.data(), dim(b.stride()),
                 options.accumulate ? 1.0f : 0.0f, out.data(), dim(out.stride()));
  if (status != dnnl_success) throw onednn_error(status);
}

}  // namespace dfrost
