#include "records/event_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/stopwatch.h"
#include "records/figure_table.h"
#include "records/record_file.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[i] = crc;
  }
  return table;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

template <typename T>
void put(std::string& to, T value) {
  static_assert(std::endian::native == std::endian::little);
  std::array<char, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  to.append(bytes.data(), bytes.size());
}

// Protobuf: a field is its number and wire type, then a varint, 8 bytes, a length and bytes, or 4 bytes.
enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void put_tag(std::string& to, unsigned field, WireType type) { put_varint(to, field << 3 | type); }

void put_bytes(std::string& to, unsigned field, const std::string& bytes) {
  put_tag(to, field, kBytes);
  put_varint(to, bytes.size());
  to += bytes;
}

// message Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
std::string event(double seconds, std::size_t step) {
  std::string message;
  put_tag(message, 1, kFixed64);
  put(message, seconds);
  put_tag(message, 2, kVarint);
  put_varint(message, step);
  return message;
}

// message Summary { repeated Value value = 1; }   message Value { string tag = 1; float simple_value = 2; }
std::string summary(const Scalars& scalars) {
  std::string message;
  for (const auto& [tag, number] : scalars) {
    std::string value;
    put_bytes(value, 1, tag);
    put_tag(value, 2, kFixed32);
    put(value, static_cast<float>(number));
    put_bytes(message, 1, value);
  }
  return message;
}

// A CRC of data that holds CRCs is weak, so TFRecord rotates it and adds a constant.
std::uint32_t masked_crc(std::span<const std::byte> bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

std::string framed(const std::string& data) {
  std::string length;
  put(length, static_cast<std::uint64_t>(data.size()));
  std::string record = length;
  put(record, masked_crc(bytes_of(length)));
  record += data;
  put(record, masked_crc(bytes_of(data)));
  return record;
}

std::string round_event(std::size_t round, const Scalars& scalars, double seconds) {
  std::string message = event(seconds, round);
  put_bytes(message, 5, summary(scalars));
  return framed(message);
}

// The step of an event that this file wrote: it stands behind the time.
std::optional<std::uint64_t> step_of(std::string_view message) {
  constexpr std::size_t kStep = 1 + sizeof(double) + 1;
  std::uint64_t step = 0;
  unsigned shift = 0;
  for (std::size_t i = kStep; i < message.size() && shift < 64; ++i, shift += 7) {
    const auto byte = static_cast<unsigned char>(message[i]);
    step |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return step;
  }
  return std::nullopt;
}

// The whole events at the front, of rounds up to `done`.
struct GoodPrefix {
  std::size_t bytes = 0;
  std::set<std::uint64_t> steps = {};  // 0 is that of the event that opens the file
  bool damaged = false;                // by more than that the file ends within an event
};
GoodPrefix good_prefix(const std::string& file, std::size_t done) {
  constexpr std::size_t kHead = 12, kTail = 4;
  GoodPrefix good;
  while (file.size() - good.bytes >= kHead + kTail) {
    std::uint64_t length = 0;
    std::uint32_t crc = 0;
    const std::string head = file.substr(good.bytes, sizeof length);
    std::memcpy(&length, head.data(), sizeof length);
    std::memcpy(&crc, file.data() + good.bytes + sizeof length, sizeof crc);
    if ((good.damaged = crc != masked_crc(bytes_of(head)))) break;
    if (length > file.size() - good.bytes - kHead - kTail) break;
    const std::string data = file.substr(good.bytes + kHead, length);
    std::memcpy(&crc, file.data() + good.bytes + kHead + length, sizeof crc);
    const auto step = step_of(data);
    if ((good.damaged = crc != masked_crc(bytes_of(data)) || !step)) break;
    if (*step > done) break;
    good.steps.insert(*step);
    good.bytes += kHead + length + kTail;
  }
  return good;
}

// The first name of its kind that is free: what was set aside before stays.
fs::path set_aside_name(const fs::path& path) {
  fs::path name = path.string() + kSetAside;
  for (int number = 2; fs::exists(name); ++number)
    name = fmt::format("{}{}.{}", path.string(), kSetAside, number);
  return name;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static constexpr auto kTable = make_crc_table();
  std::uint32_t crc = 0xffffffffu;
  for (const std::byte byte : bytes)
    crc = kTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xffu] ^ (crc >> 8);
  return ~crc;
}

Scalars scalars_of(const nlohmann::ordered_json& record) {
  Scalars scalars;
  for (const auto& figure : figures()) {
    if (figure.event.empty()) continue;
    std::string place(figure.name);
    std::ranges::replace(place, '.', '/');
    const nlohmann::ordered_json::json_pointer at("/" + place);
    // Where there was nothing to measure, as in a round without merges, there is no point to draw.
    if (!record.contains(at) || !record[at].is_number()) continue;
    const auto value = record[at].get<double>();
    if (!std::isnan(value))
      scalars.emplace_back(figure.event, figure.form == Form::bytes ? value / 1e6 : value);
  }
  const nlohmann::ordered_json::json_pointer domains("/evaluation/domains");
  if (!record.contains(domains)) return scalars;
  for (const auto& [name, scores] : record[domains].items())
    scalars.emplace_back("accuracy_masked_by_domain/" + name, scores.value("accuracy_masked", 0.0));
  return scalars;
}

EventFile::EventFile(fs::path path, std::span<const nlohmann::ordered_json> records, std::size_t done)
    : path_(std::move(path)) {
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path());
  const auto round_of = [](const auto& record) { return record.at("round").template get<std::size_t>(); };
  const bool exists = fs::exists(path_);
  if (exists) {
    const auto text = read_text_file(path_, std::size_t{1} << 30);
    const auto good = good_prefix(text, done);
    const bool has_all = std::ranges::all_of(
        records, [&](const auto& record) { return good.steps.contains(round_of(record)); });
    if (good.bytes > 0 && has_all && !good.damaged) {
      if (good.bytes != text.size()) cut_file(path_, good.bytes);
      return;
    }
    rename_file(path_, set_aside_name(path_));
  }
  made_anew_ = exists || !records.empty();
  std::string first = event(0, 0);
  put_bytes(first, 3, "brain.Event:2");
  std::string all = framed(first);
  for (const auto& record : records)
    all += round_event(round_of(record), scalars_of(record), seconds_since_1970());
  write_file_atomically(path_, all);
}

void EventFile::add(std::size_t round, const Scalars& scalars, double seconds) {
  append_to_file(path_, round_event(round, scalars, seconds));
}

}  // namespace dfrost
