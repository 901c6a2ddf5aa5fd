// Any bytes give a greeting or a refusal that can be judged, explained and written again, or none.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "network/tls/hello.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::span<const std::byte> payload_of(const std::vector<std::byte>& frame) {
  return std::span(frame).subspan(dfrost::kFrameHeaderBytes);
}

void use_greeting(std::span<const std::byte> bytes) {
  const auto greeting = dfrost::decode_greeting(bytes);
  if (!greeting) return;
  require(greeting->oldest_version <= greeting->newest_version);
  require(greeting->software.size() <= dfrost::kMostSoftwareBytes);
  const auto again = dfrost::encode_greeting(dfrost::FrameType::hello, *greeting);
  require(dfrost::decode_greeting(payload_of(again)) == greeting);
  require(payload_of(again).size() <= bytes.size());
  const dfrost::Greeting ours;
  const auto refusal = dfrost::judge_greeting(*greeting, 0, ours);
  if (refusal) return require(dfrost::to_string(*refusal) != "unknown");
  const auto version = dfrost::common_version(*greeting, ours);
  require(version >= ours.oldest_version && version <= ours.newest_version);
  require(greeting->federation == ours.federation && greeting->run == ours.run && greeting->number == 0);
}

void use_refusal(std::span<const std::byte> bytes) {
  const auto refuse = dfrost::decode_refuse(bytes);
  if (!refuse) return;
  require(refuse->text.size() <= dfrost::kMostRefusalBytes);
  require(dfrost::decode_refuse(payload_of(dfrost::encode_refuse(*refuse))) == refuse);
  const auto advice = dfrost::advice_on(*refuse, 1);
  require(!advice.trouble.empty() && advice.trouble.size() < 4000 && !advice.hint.empty());
}

}  // namespace

std::size_t fuzz_memory_bound(std::size_t input_bytes) { return 8 * input_bytes + (16u << 10); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  use_greeting(bytes);
  use_refusal(bytes);
  return 0;
}
