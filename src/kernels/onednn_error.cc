#include "kernels/onednn_error.h"

#include <dnnl_types.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cstddef>

namespace dfrost {
namespace {

// All that one call has been seen to take, several times over.
constexpr std::size_t kCodeBytes = std::size_t{32} << 20;

}  // namespace

Error onednn_error(int status) {
  if (status == dnnl_out_of_memory) {
    return {ErrorCode::resource_exhausted, "out of memory in a matrix product",
            "use fewer threads (run.threads) or smaller batches (train.batch)"};
  }
  return {ErrorCode::internal, fmt::format("oneDNN cannot compute a matrix product: status {}", status)};
}

void require_room_for_code() {
  void* room = ::mmap(nullptr, kCodeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw onednn_error(dnnl_out_of_memory);
  ::munmap(room, kCodeBytes);
}

}  // namespace dfrost
