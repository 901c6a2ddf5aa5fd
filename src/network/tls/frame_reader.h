// Takes a link's bytes apart into frames, as they come. It says where the next bytes are to be put, so that a
// letter is read into the memory it stays in; and it asks before it takes memory for one. Knows no sockets.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "network/tls/frame.h"

namespace dfrost {

class FrameReader {
 public:
  enum class Event {
    more,         // nothing whole yet
    frame,        // type() and payload(), until the next bytes
    letter_head,  // letter() and letter_bytes(): call take_letter() or skip_letter() before going on
    letter,       // the letter that was taken is whole: message()
    skipped,      // the letter that was not taken is over
    fault,        // fault(); of an oversized letter, letter() too. Nothing more can be read
  };

  explicit FrameReader(FrameRules rules) : rules_(rules) {}

  // From the next frame on.
  void agree_on(std::uint16_t version) { rules_.version = version; }

  // Where the next bytes go; never empty. Then say how many came there, at least one.
  std::span<std::byte> wanted();
  Event advance(std::size_t count);

  FrameType type() const { return header_.type; }
  std::span<const std::byte> payload() const { return std::span(small_).first(header_.length); }
  const LetterHead& letter() const { return letter_; }
  std::size_t letter_bytes() const { return header_.length - kLetterHeadBytes; }
  void take_letter();
  void skip_letter();
  SharedBytes message();
  FrameFault fault() const { return fault_; }
  bool is_between_frames() const { return part_ == Part::header && have_ == 0; }

 private:
  enum class Part { header, payload, letter_head, body, skipping };

  Event end_of_header();
  Event end_of_letter_head();
  Event begin(Part part, std::uint64_t bytes, Event event = Event::more);

  FrameRules rules_;
  Part part_ = Part::header;
  std::uint64_t have_ = 0, need_ = kFrameHeaderBytes;
  std::array<std::byte, kMostGreetingBytes> small_;  // whatever is no message
  std::vector<std::byte> scratch_;                   // what is skipped
  std::shared_ptr<std::vector<std::byte>> body_;
  FrameHeader header_;
  LetterHead letter_;
  FrameFault fault_ = FrameFault::none;
};

}  // namespace dfrost
