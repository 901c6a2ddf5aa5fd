#include "kernels/small_product.h"

#include <dnnl.h>

#include <cassert>

#include "kernels/onednn_error.h"
#include "kernels/onednn_section.h"

namespace dfrost {

void small_product(Transpose ta, Transpose tb, MatrixView<const float> a, MatrixView<const float> b,
                   MatrixView<float> out, const ProductOptions& options) {
  assert((ta == Transpose::no ? a.rows() : a.cols()) == out.rows());
  assert((tb == Transpose::no ? b.cols() : b.rows()) == out.cols());
  const std::size_t inner = ta == Transpose::no ? a.cols() : a.rows();
  assert((tb == Transpose::no ? b.rows() : b.cols()) == inner);
  if (out.empty()) return;
  const OneDnnSection section;
  const auto dim = [](std::size_t n) { return static_cast<dnnl_dim_t>(n); };
  const auto status =
      dnnl_sgemm(static_cast<char>(ta), static_cast<char>(tb), dim(out.rows()), dim(out.cols()), dim(inner),
                 options.scale, a.data(), dim(a.stride()), b.data(), dim(b.stride()),
                 options.accumulate ? 1.0f : 0.0f, out.data(), dim(out.stride()));
  if (status != dnnl_success) throw onednn_error(status);
}

}  // namespace dfrost
