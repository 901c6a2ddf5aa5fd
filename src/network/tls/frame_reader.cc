#include "network/tls/frame_reader.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace dfrost {
namespace {

constexpr std::size_t kSkipBytes = 16 << 10;

}  // namespace

std::span<std::byte> FrameReader::wanted() {
  if (part_ == Part::body) return std::span(*body_).subspan(have_);
  if (part_ == Part::skipping)
    return std::span(scratch_).first(std::min<std::uint64_t>(need_ - have_, scratch_.size()));
  return std::span(small_).first(need_).subspan(have_);
}

FrameReader::Event FrameReader::advance(std::size_t count) {
  assert(count > 0 && fault_ == FrameFault::none);
  have_ += count;
  if (have_ < need_) return Event::more;
  switch (part_) {
    case Part::header: return end_of_header();
    case Part::letter_head: return end_of_letter_head();
    case Part::payload: return begin(Part::header, kFrameHeaderBytes, Event::frame);
    case Part::body: return begin(Part::header, kFrameHeaderBytes, Event::letter);
    case Part::skipping: break;
  }
  return begin(Part::header, kFrameHeaderBytes, Event::skipped);
}

FrameReader::Event FrameReader::end_of_header() {
  const auto checked = decode_frame_header(std::span(small_).first<kFrameHeaderBytes>(), rules_);
  header_ = checked.header;
  // Of an oversized letter it is still worth knowing which one it is: its receiver need not wait for it.
  if (checked.fault == FrameFault::oversized) return begin(Part::letter_head, kLetterHeadBytes);
  fault_ = checked.fault;
  if (fault_ != FrameFault::none) return Event::fault;
  if (header_.type == FrameType::letter) return begin(Part::letter_head, kLetterHeadBytes);
  return begin(Part::payload, header_.length);
}

FrameReader::Event FrameReader::end_of_letter_head() {
  letter_ = decode_letter_head(std::span(small_).first<kLetterHeadBytes>());
  if (letter_bytes() > rules_.message_limit_bytes) {
    fault_ = FrameFault::oversized;
    return Event::fault;
  }
  return Event::letter_head;
}

void FrameReader::take_letter() {
  body_ = std::make_shared<std::vector<std::byte>>(letter_bytes());
  begin(Part::body, letter_bytes());
}

void FrameReader::skip_letter() {
  scratch_.resize(kSkipBytes);
  begin(Part::skipping, letter_bytes());
}

SharedBytes FrameReader::message() { return std::exchange(body_, nullptr); }

FrameReader::Event FrameReader::begin(Part part, std::uint64_t bytes, Event event) {
  part_ = part;
  have_ = 0;
  need_ = bytes;
  return event;
}

}  // namespace dfrost
