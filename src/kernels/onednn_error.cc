#include "kernels/onednn_error.h"

#include <dnnl_types.h>
#include <fmt/format.h>

namespace dfrost {

Error onednn_error(int status) {
  if (status == dnnl_out_of_memory) {
    return {ErrorCode::resource_exhausted, "out of memory in a matrix product",
            "use fewer threads (run.threads) or smaller batches (train.batch)"};
  }
  return {ErrorCode::internal, fmt::format("oneDNN cannot compute a matrix product: status {}", status)};
}

}  // namespace dfrost
