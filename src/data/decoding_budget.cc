#include "data/decoding_budget.h"

#include <condition_variable>
#include <mutex>

#include "data/image_file.h"

namespace dfrost {
namespace {

struct Budget {
  std::mutex mutex;
  std::condition_variable given_back;
  std::size_t used_bytes = 0;
};

Budget& decoding_budget() {
  static Budget budget;
  return budget;
}

thread_local DecodingShare* share_of_this_thread = nullptr;

}  // namespace

DecodingShare::DecodingShare() { share_of_this_thread = this; }

DecodingShare::~DecodingShare() {
  share_of_this_thread = nullptr;
  Budget& budget = decoding_budget();
  const std::lock_guard lock(budget.mutex);
  budget.used_bytes -= taken_;
  budget.given_back.notify_all();
}

void DecodingShare::take(std::size_t bytes) {
  DecodingShare* share = share_of_this_thread;
  if (share == nullptr) return;
  Budget& budget = decoding_budget();
  std::unique_lock lock(budget.mutex);
  // Nobody waits for room while holding some of it: a picture is taken for once, before it is decoded.
  budget.given_back.wait(
      lock, [&] { return budget.used_bytes == 0 || budget.used_bytes + bytes <= kMaxDecodingBytes; });
  budget.used_bytes += bytes;
  share->taken_ += bytes;
}

}  // namespace dfrost
