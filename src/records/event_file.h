// A round's figures as TensorBoard reads them: an event file of scalars under readable tags, one event per
// round. The format is TFRecord framing (length, CRC-32C, data, CRC-32C) around protobuf messages of four
// fields, written by hand (docs/decisions/034-event-files.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dfrost {

// CRC-32 with Castagnoli's polynomial, as iSCSI and TFRecord use it.
std::uint32_t crc32c(std::span<const std::byte> bytes);

using Scalars = std::vector<std::pair<std::string, double>>;  // tag, value
Scalars scalars_of(const nlohmann::ordered_json& record);     // a line of metrics.jsonl

class EventFile {
 public:
  // Goes on in a file that is there, after the events of rounds up to `done`: those of later rounds, and one
  // that a crash cut short, go. Where an event is damaged, or there is none of a round that `records` are of,
  // the file is set aside (kSetAside) and made anew from the records.
  EventFile(std::filesystem::path path, std::span<const nlohmann::ordered_json> records, std::size_t done);
  bool made_anew() const { return made_anew_; }

  // On disk when it returns. `seconds`: since 1970.
  void add(std::size_t round, const Scalars& scalars, double seconds);

 private:
  std::filesystem::path path_;
  bool made_anew_ = false;
};

}  // namespace dfrost
