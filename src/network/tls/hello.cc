#include "network/tls/hello.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "network/tls/byte_writer.h"

namespace dfrost {
namespace {

constexpr std::uint32_t kProbeFlag = 1;

}  // namespace

std::vector<std::byte> encode_greeting(FrameType type, const Greeting& greeting) {
  ByteWriter writer;
  writer.number(greeting.oldest_version)
      .number(greeting.newest_version)
      .number(greeting.probe ? kProbeFlag : 0u)
      .number(greeting.number)
      .bytes(greeting.federation.bytes)
      .number(greeting.revision)
      .bytes(greeting.run.bytes)
      .bytes(greeting.boot)
      .number(greeting.round)
      .text(greeting.software, kMostSoftwareBytes);
  return encode_frame(type, kOldestWireVersion, writer.take());
}

std::optional<Greeting> decode_greeting(std::span<const std::byte> payload) {
  ByteTaker taker(payload);
  Greeting greeting;
  greeting.oldest_version = taker.number<std::uint16_t>();
  greeting.newest_version = taker.number<std::uint16_t>();
  greeting.probe = (taker.number<std::uint32_t>() & kProbeFlag) != 0;
  greeting.number = taker.number<std::uint32_t>();
  taker.bytes(greeting.federation.bytes);
  greeting.revision = taker.number<std::uint64_t>();
  taker.bytes(greeting.run.bytes);
  taker.bytes(greeting.boot);
  greeting.round = taker.number<std::uint64_t>();
  greeting.software = taker.text(kMostSoftwareBytes);
  if (!taker.enough() || greeting.oldest_version == 0 || greeting.oldest_version > greeting.newest_version)
    return std::nullopt;
  return greeting;
}

std::string_view to_string(RefuseCode code) {
  switch (code) {
    case RefuseCode::malformed: return "malformed_hello";
    case RefuseCode::version: return "version";
    case RefuseCode::federation: return "federation";
    case RefuseCode::number: return "number";
    case RefuseCode::run: return "run";
    case RefuseCode::older_revision: return "older_revision";
    case RefuseCode::newer_revision: return "newer_revision";
    case RefuseCode::duplicate: return "duplicate";
    case RefuseCode::tie: return "tie";
    case RefuseCode::barred: return "barred";
  }
  return "unknown";
}

std::vector<std::byte> encode_refuse(const Refuse& refuse) {
  ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(refuse.code))
      .number(refuse.revision)
      .text(refuse.text, kMostRefusalBytes);
  return encode_frame(FrameType::refuse, kOldestWireVersion, writer.take());
}

// A code that is not known here is of a later version; what it means stands in the text.
std::optional<Refuse> decode_refuse(std::span<const std::byte> payload) {
  ByteTaker taker(payload);
  Refuse refuse;
  refuse.code = static_cast<RefuseCode>(taker.number<std::uint32_t>());
  refuse.revision = taker.number<std::uint64_t>();
  refuse.text = taker.text(kMostRefusalBytes);
  if (!taker.enough()) return std::nullopt;
  return refuse;
}

std::optional<RefuseCode> judge_greeting(const Greeting& theirs, ClientId member, const Greeting& ours) {
  if (theirs.newest_version < ours.oldest_version || theirs.oldest_version > ours.newest_version)
    return RefuseCode::version;
  if (theirs.federation != ours.federation) return RefuseCode::federation;
  if (theirs.number != member) return RefuseCode::number;
  if (theirs.revision < ours.revision) return RefuseCode::older_revision;
  if (theirs.revision > ours.revision) return RefuseCode::newer_revision;
  if (theirs.run != ours.run) return RefuseCode::run;
  return std::nullopt;
}

std::uint16_t common_version(const Greeting& theirs, const Greeting& ours) {
  return std::min(theirs.newest_version, ours.newest_version);
}

Advice advice_on(const Refuse& refuse, std::uint64_t own_revision) {
  switch (refuse.code) {
    case RefuseCode::malformed:
      return {"it did not understand our greeting", "update the older dfrost of the two"};
    case RefuseCode::version:
      return {"it speaks no wire version in common with ours", "update the older dfrost of the two"};
    case RefuseCode::federation:
      return {"it takes part in another federation", "compare the fingerprints of both federation files"};
    case RefuseCode::number:
      return {"it knows our key under another number", "compare the fingerprints of both federation files"};
    case RefuseCode::run:
      return {"its run has other settings or another seed",
              "both must have joined with the same federation file, and have backbones that compute alike"};
    case RefuseCode::older_revision:
      return {fmt::format("its federation file is of revision {}, ours of {}", refuse.revision, own_revision),
              "get the newer file and join with it"};
    case RefuseCode::newer_revision:
      return {fmt::format("its federation file is of revision {}, ours of {}", refuse.revision, own_revision),
              "send it the newer file, to join with it"};
    case RefuseCode::duplicate:
      return {"it is linked to another process with our identity",
              "stop one of the two: the key of a site is for one process; after a crash wait a moment"};
    case RefuseCode::tie: return {"both of us dialled at once", "wait a moment"};
    case RefuseCode::barred:
      return {"it closed its door for a while, because of what we sent",
              "update the older dfrost of the two"};
  }
  return {fmt::format("it refused for a reason not known here: {}", quote_name(refuse.text)),
          "update this dfrost"};
}

bool passes_soon(RefuseCode code) { return code == RefuseCode::tie || code == RefuseCode::duplicate; }

}  // namespace dfrost
