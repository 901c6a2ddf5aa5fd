// out = scale·op(a)·op(b), or out += …, in fp32 by oneDNN on the calling thread: for matrices that change at
// every call (a head being trained, one attention head), where packing would cost more than it saves.
#pragma once

#include "dfrost/matrix_view.h"

namespace dfrost {

enum class Transpose : char { no = 'N', yes = 'T' };

struct ProductOptions {
  float scale = 1.0f;
  bool accumulate = false;
};

void small_product(Transpose ta, Transpose tb, MatrixView<const float> a, MatrixView<const float> b,
                   MatrixView<float> out, const ProductOptions& options = {});

}  // namespace dfrost
