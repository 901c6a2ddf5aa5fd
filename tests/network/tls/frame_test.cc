#include "network/tls/frame.h"

#include <gtest/gtest.h>

#include <cstring>

#include "network/tls/frame_reader.h"
#include "network/tls/hello.h"

namespace dfrost {
namespace {

using Bytes = std::vector<std::byte>;
using Event = FrameReader::Event;

constexpr FrameRules kRules = {.version = 2, .message_limit_bytes = 100};

FrameFault fault_of(const Bytes& frame, const FrameRules& rules) {
  return decode_frame_header(std::span(frame).first<kFrameHeaderBytes>(), rules).fault;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string digits;
  for (const std::byte byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    digits += kDigits[std::to_integer<unsigned>(byte) >> 4];
    digits += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return digits;
}

Greeting some_greeting() {
  Greeting greeting;
  greeting.number = 3;
  for (unsigned i = 0; i < 32; ++i) greeting.federation.bytes[i] = static_cast<std::byte>(0x10 + i);
  greeting.revision = 5;
  greeting.run.bytes.fill(std::byte{0xaa});
  greeting.boot.fill(std::byte{0xbb});
  greeting.round = 7;
  greeting.software = "0.1";
  return greeting;
}

Bytes payload_of(const Bytes& frame) { return Bytes(frame.begin() + kFrameHeaderBytes, frame.end()); }

// What a reader makes of bytes that come in pieces of so many.
struct Seen {
  std::vector<Event> events;
  std::vector<Bytes> payloads;
  std::vector<std::size_t> messages;
};
Seen read_in_pieces(const Bytes& bytes, std::size_t piece, bool takes) {
  FrameReader reader(kRules);
  Seen seen;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto into = reader.wanted();
    const std::size_t count = std::min({piece, into.size(), bytes.size() - at});
    std::memcpy(into.data(), bytes.data() + at, count);
    at += count;
    const Event event = reader.advance(count);
    if (event == Event::more) continue;
    seen.events.push_back(event);
    if (event == Event::frame) seen.payloads.emplace_back(reader.payload().begin(), reader.payload().end());
    if (event == Event::letter_head) takes ? reader.take_letter() : reader.skip_letter();
    if (event == Event::letter) seen.messages.push_back(reader.message()->size());
    if (event == Event::fault) break;
  }
  return seen;
}

Bytes letter(std::size_t message_bytes) {
  auto frame = encode_letter_head(2, {.sender = 1, .moment = {9, 2}}, message_bytes);
  frame.resize(frame.size() + message_bytes, std::byte{3});
  return frame;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(Frame, LiesOnTheWireAsItsReferencePageSays) {
  EXPECT_EQ(hex(encode_greeting(FrameType::hello, some_greeting())),
            "44465257"          // DFRW
            "01000100"          // version 1, HELLO
            "6100000000000000"  // 97 bytes
            "01000200"
            "00000000"  // versions 1 to 2, no flags
            "03000000"  // number 3
            "101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
            "0500000000000000"  // revision
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
            "0700000000000000"  // round
            "0300"
            "302e31");
  const PulseFrame pulse{.pulse = {.round = 4, .phase = 1, .stage = 2, .progress = 6, .revision = 5},
                         .awaited_round = 3,
                         .sent_at = 10,
                         .echo = 11,
                         .echo_held_micros = 12};
  EXPECT_EQ(hex(encode_pulse(1, pulse)),
            "44465257"
            "01000400"
            "2000000000000000"
            "0400000000000000"
            "01000000"
            "02000000"
            "0500000000000000"
            "0300000000000000");
  EXPECT_EQ(hex(encode_pulse(2, pulse)),
            "44465257"
            "02000400"
            "4000000000000000"
            "0400000000000000"
            "01000000"
            "02000000"
            "0500000000000000"
            "0300000000000000"
            "0600000000000000"
            "0a00000000000000"
            "0b00000000000000"
            "0c00000000000000");
  EXPECT_EQ(hex(letter(1)),
            "44465257"
            "02000500"
            "1100000000000000"
            "01000000"
            "02000000"
            "0900000000000000"
            "03");
  EXPECT_EQ(hex(encode_ack(2, {.moment = {9, 2}, .delivery = Delivery::early})),
            "44465257"
            "02000600"
            "1000000000000000"
            "0900000000000000"
            "02000000"
            "02000000");
  EXPECT_EQ(hex(encode_bye(2, Farewell::leaving)),
            "44465257"
            "02000700"
            "0400000000000000"
            "02000000");
  EXPECT_EQ(hex(encode_refuse({.code = RefuseCode::run, .revision = 5, .text = "no"})),
            "44465257"
            "01000300"
            "1000000000000000"
            "05000000"
            "0500000000000000"
            "0200"
            "6e6f");
}

TEST(Frame, ComesBackAsItWasWritten) {
  const auto greeting = some_greeting();
  EXPECT_EQ(decode_greeting(payload_of(encode_greeting(FrameType::welcome, greeting))), greeting);
  const Refuse refuse{.code = RefuseCode::duplicate, .revision = 9, .text = "why"};
  EXPECT_EQ(decode_refuse(payload_of(encode_refuse(refuse))), refuse);
  PulseFrame pulse{.pulse = {.round = 1, .progress = 5}, .awaited_round = 2, .sent_at = 3, .echo = 4};
  EXPECT_EQ(decode_pulse(2, payload_of(encode_pulse(2, pulse))), pulse);
  pulse.pulse.progress = pulse.sent_at = pulse.echo = 0;  // version 1 has none of them
  EXPECT_EQ(decode_pulse(1, payload_of(encode_pulse(1, pulse))), pulse);
  const AckFrame ack{.moment = {3, 1}, .delivery = Delivery::repeated};
  EXPECT_EQ(decode_ack(payload_of(encode_ack(2, ack))), ack);
  EXPECT_EQ(decode_bye(payload_of(encode_bye(2, Farewell::done))), Farewell::done);
}

TEST(Frame, ThatIsCutAnywhereIsNone) {
  const auto hello = payload_of(encode_greeting(FrameType::hello, some_greeting()));
  for (std::size_t size = 0; size < hello.size(); ++size)
    EXPECT_EQ(decode_greeting(std::span(hello).first(size)), std::nullopt) << size;
  const auto refuse = payload_of(encode_refuse({.code = RefuseCode::run, .revision = 1, .text = "no"}));
  for (std::size_t size = 0; size < refuse.size(); ++size)
    EXPECT_EQ(decode_refuse(std::span(refuse).first(size)), std::nullopt) << size;
  const auto pulse = payload_of(encode_pulse(2, {}));
  for (std::size_t size = 0; size < pulse.size(); ++size)
    EXPECT_EQ(decode_pulse(2, std::span(pulse).first(size)), std::nullopt) << size;
}

TEST(Frame, OfAGreetingMayGrowAtItsEnd) {
  auto hello = payload_of(encode_greeting(FrameType::hello, some_greeting()));
  hello.push_back(std::byte{1});
  EXPECT_EQ(decode_greeting(hello), some_greeting());
}

TEST(Frame, IsRefusedByItsHeaderAlone) {
  const FrameRules before = {.version = 0, .message_limit_bytes = 100};
  const auto pulse = encode_pulse(2, {});
  EXPECT_EQ(fault_of(pulse, kRules), FrameFault::none);
  EXPECT_EQ(fault_of(pulse, before), FrameFault::type);  // nothing before HELLO
  EXPECT_EQ(fault_of(encode_greeting(FrameType::hello, {}), kRules), FrameFault::type);
  EXPECT_EQ(fault_of(encode_pulse(1, {}), kRules), FrameFault::version);
  EXPECT_EQ(fault_of(letter(100), kRules), FrameFault::none);
  EXPECT_EQ(fault_of(letter(101), kRules), FrameFault::oversized);
  EXPECT_EQ(fault_of(letter(0), kRules), FrameFault::length);
  auto magic = pulse;
  magic[0] = std::byte{'X'};
  EXPECT_EQ(fault_of(magic, kRules), FrameFault::magic);
  auto type = pulse;
  type[6] = std::byte{8};
  EXPECT_EQ(fault_of(type, kRules), FrameFault::type);
  auto length = pulse;
  length[8] = std::byte{0x3f};
  EXPECT_EQ(fault_of(length, kRules), FrameFault::length);
  auto huge = encode_greeting(FrameType::hello, some_greeting());
  huge[15] = std::byte{0xff};
  EXPECT_EQ(fault_of(huge, before), FrameFault::length);
}

TEST(FrameReader, SeesTheSameInPiecesOfAnySize) {
  const auto bytes = joined({encode_pulse(2, {}), letter(100), letter(1), encode_ack(2, {}), letter(40)});
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const auto taken = read_in_pieces(bytes, piece, true);
    EXPECT_EQ(taken.events, (std::vector{Event::frame, Event::letter_head, Event::letter, Event::letter_head,
                                         Event::letter, Event::frame, Event::letter_head, Event::letter}))
        << piece;
    EXPECT_EQ(taken.messages, (std::vector<std::size_t>{100, 1, 40}));
    EXPECT_EQ(taken.payloads, (std::vector{payload_of(encode_pulse(2, {})), payload_of(encode_ack(2, {}))}));
    const auto skipped = read_in_pieces(bytes, piece, false);
    EXPECT_EQ(skipped.events,
              (std::vector{Event::frame, Event::letter_head, Event::skipped, Event::letter_head,
                           Event::skipped, Event::frame, Event::letter_head, Event::skipped}));
  }
}

TEST(FrameReader, NamesTheLetterThatIsTooLargeAndReadsNoneOfIt) {
  FrameReader reader(kRules);
  const auto bytes = letter(1000);
  Event event = Event::more;
  std::size_t at = 0;
  while (event == Event::more) {
    const auto into = reader.wanted();
    std::memcpy(into.data(), bytes.data() + at, into.size());
    at += into.size();
    event = reader.advance(into.size());
  }
  EXPECT_EQ(event, Event::fault);
  EXPECT_EQ(reader.fault(), FrameFault::oversized);
  EXPECT_EQ(reader.letter(), (LetterHead{.sender = 1, .moment = {9, 2}}));
  EXPECT_EQ(at, kFrameHeaderBytes + kLetterHeadBytes);
}

TEST(Greeting, IsRefusedForTheFirstThingThatDiffers) {
  const auto ours = some_greeting();
  const auto judged = [&](auto change) {
    auto theirs = ours;
    theirs.number = 4;
    change(theirs);
    return judge_greeting(theirs, 4, ours);
  };
  EXPECT_EQ(judged([](Greeting&) {}), std::nullopt);
  EXPECT_EQ(judged([](Greeting& g) { g.oldest_version = g.newest_version = 3; }), RefuseCode::version);
  EXPECT_EQ(judged([](Greeting& g) { g.federation.bytes[31] = {}; }), RefuseCode::federation);
  EXPECT_EQ(judged([](Greeting& g) { g.number = 5; }), RefuseCode::number);
  EXPECT_EQ(judged([](Greeting& g) { g.revision = 4; }), RefuseCode::older_revision);
  EXPECT_EQ(judged([](Greeting& g) { g.revision = 6; }), RefuseCode::newer_revision);
  EXPECT_EQ(judged([](Greeting& g) { g.run.bytes[0] = {}; }), RefuseCode::run);
}

TEST(Greeting, OfOneVersionLaterOrEarlierIsSpokenAtTheLower) {
  auto old = some_greeting();
  old.newest_version = 1;
  auto next = some_greeting();
  next.newest_version = 3;
  EXPECT_EQ(common_version(old, some_greeting()), 1);
  EXPECT_EQ(common_version(some_greeting(), old), 1);
  EXPECT_EQ(common_version(next, some_greeting()), 2);
}

}  // namespace
}  // namespace dfrost
