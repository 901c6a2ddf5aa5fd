#include "network/message.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace dfrost {
namespace {

constexpr std::size_t kChecksumAt = 44;

class MessageTest : public testing::Test {
 protected:
  std::vector<float> prompts_ = {1, 2, 3, 4, 5, 6};
  std::vector<float> bias_ = {0.5f, -0.25f};
  const Envelope envelope_{.run = {.bytes = {std::byte{0xd5}, std::byte{1}}}, .sender = 7, .moment = {12, 1}};
  ExpectedMessage expected_{.envelope = envelope_,
                            .tensors = {{"head.bias", {2}}, {"prompt_embeddings", {0, 3}}}};

  std::vector<std::byte> encode() const {
    const std::vector<FloatTensor> state = {{"prompt_embeddings", {2, 3}, prompts_},
                                            {"head.bias", {2}, bias_}};
    return encode_message(envelope_, state);
  }

  void expect_refused(std::span<const std::byte> bytes, RefusalReason reason, const std::string& text) const {
    const auto result = decode_message(bytes, expected_);
    ASSERT_TRUE(std::holds_alternative<Refusal>(result)) << "accepted, expected " << to_string(reason);
    const auto& refusal = std::get<Refusal>(result);
    EXPECT_EQ(to_string(refusal.reason), to_string(reason)) << refusal.text;
    EXPECT_NE(refusal.text.find(text), std::string::npos) << refusal.text;
  }
};
using MessageFormat = MessageTest;

void put(std::vector<std::byte>& bytes, std::size_t offset, const void* value, std::size_t size) {
  std::memcpy(bytes.data() + offset, value, size);
}

// As a sender would who says such things on purpose.
void put_checksum(std::vector<std::byte>& bytes) {
  std::memset(bytes.data() + kChecksumAt, 0, 4);
  const auto checksum = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  put(bytes, kChecksumAt, &checksum, 4);
}

TEST_F(MessageFormat, BringsAStateAcrossBitForBit) {
  prompts_ = {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), kLargestValue, -kLargestValue, 0.1f};
  const auto result = decode_message(encode(), expected_);
  ASSERT_TRUE(std::holds_alternative<Message>(result)) << std::get<Refusal>(result).text;
  const auto& message = std::get<Message>(result);
  EXPECT_EQ(message.sender(), 7u);
  EXPECT_EQ(message.envelope, envelope_);
  ASSERT_EQ(message.tensors.size(), 2u);
  const auto& prompts = message.tensors.at("prompt_embeddings");
  EXPECT_EQ(prompts.shape, (Shape{2, 3}));
  ASSERT_EQ(prompts.values.size(), 6u);
  EXPECT_EQ(std::memcmp(prompts.values.data(), prompts_.data(), 6 * sizeof(float)), 0);
  EXPECT_EQ(message.tensors.at("head.bias").values, bias_);
}

TEST_F(MessageFormat, IsTheSameForTheSameState) { EXPECT_EQ(encode(), encode()); }

TEST_F(MessageFormat, KeepsValuesAlignedForThoseWhoReadThemInPlace) {
  const auto bytes = encode();
  std::uint64_t header_length = 0;
  std::memcpy(&header_length, bytes.data() + kMessageHeaderBytes, 8);
  EXPECT_EQ((kMessageHeaderBytes + 8 + header_length) % 8, 0u);
}

TEST_F(MessageFormat, AllowsAnyNumberOfPromptsWhereTheShapeIsOpen) {
  prompts_.assign(30, 1.0f);
  const std::vector<FloatTensor> state = {{"prompt_embeddings", {10, 3}, prompts_},
                                          {"head.bias", {2}, bias_}};
  EXPECT_TRUE(std::holds_alternative<Message>(decode_message(encode_message(envelope_, state), expected_)));
  const std::vector<FloatTensor> none = {{"prompt_embeddings", {0, 3}, {}}, {"head.bias", {2}, bias_}};
  expect_refused(encode_message(envelope_, none), RefusalReason::shape,
                 "'prompt_embeddings' has shape [0, 3]");
}

TEST_F(MessageFormat, IsRefusedWhenCutAtAnyByteOrTooLong) {
  const auto bytes = encode();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    expect_refused(std::span(bytes).first(length), RefusalReason::truncated, "long");
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  expect_refused(longer, RefusalReason::truncated, "expected");
}

TEST_F(MessageFormat, IsRefusedWhenAnySingleBitIsFlipped) {
  const auto bytes = encode();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(std::holds_alternative<Refusal>(decode_message(damaged, expected_))) << "bit " << bit;
  }
}

TEST_F(MessageFormat, IsRefusedWhenItIsNotOne) {
  auto bytes = encode();
  put(bytes, 0, "PNG!", 4);
  expect_refused(bytes, RefusalReason::magic, "does not begin");
}

TEST_F(MessageFormat, IsRefusedWhenOfAnotherVersionWithWhatToDo) {
  auto bytes = encode();
  const auto put_version = [&](std::uint32_t version) { put(bytes, 4, &version, 4); };
  put_version(1);
  const std::string older = "version 1, expected 2: the sender runs an older dfrost; update the one there";
  expect_refused(bytes, RefusalReason::version, older);
  // Headers were shorter then.
  expect_refused(std::span(bytes).first(40), RefusalReason::version, older);
  put_version(3);
  expect_refused(bytes, RefusalReason::version, "the sender runs a newer dfrost; update the one here");
}

TEST_F(MessageFormat, IsRefusedWhenDamaged) {
  auto bytes = encode();
  bytes.back() ^= std::byte{1};
  expect_refused(bytes, RefusalReason::checksum, "damaged");
}

TEST_F(MessageFormat, IsRefusedWhenOfAnotherRun) {
  expected_.envelope.run.bytes[15] = std::byte{0xff};
  expect_refused(encode(), RefusalReason::run,
                 "run d5010000000000000000000000000000, expected d50100000000000000000000000000ff: the peer "
                 "takes part in another run, or its settings");
}

TEST_F(MessageFormat, IsRefusedWhenOfAnotherSenderRoundOrPhase) {
  expected_.envelope.moment = {12, 2};
  expect_refused(encode(), RefusalReason::phase, "phase 1, expected 2");
  expected_.envelope.moment = {13, 2};
  expect_refused(encode(), RefusalReason::round, "round 12, expected 13");
  expected_.envelope.sender = 8;
  expect_refused(encode(), RefusalReason::sender, "client 7, expected 8");
}

TEST_F(MessageFormat, IsRefusedWhenOfAKindThatIsNone) {
  auto bytes = encode();
  const std::uint32_t kind = 1000;
  put(bytes, 40, &kind, 4);
  put_checksum(bytes);
  expect_refused(bytes, RefusalReason::kind, "kind 1000, expected 1 (state)");
}

TEST_F(MessageFormat, IsRefusedWhenItsPayloadIsUnsound) {
  auto bytes = encode();
  const std::uint64_t header_length = 1'000'000;
  put(bytes, kMessageHeaderBytes, &header_length, 8);
  put_checksum(bytes);
  expect_refused(bytes, RefusalReason::payload, "the header claims 1000000 bytes");
}

TEST_F(MessageFormat, IsRefusedWithoutItsTensorsOrWithOthers) {
  const std::vector<FloatTensor> prompts_only = {{"prompt_embeddings", {2, 3}, prompts_}};
  expect_refused(encode_message(envelope_, prompts_only), RefusalReason::tensors, "'head.bias' is missing");
  const std::vector<FloatTensor> one_more = {
      {"prompt_embeddings", {2, 3}, prompts_}, {"head.bias", {2}, bias_}, {"more", {2}, bias_}};
  expect_refused(encode_message(envelope_, one_more), RefusalReason::tensors, "3 tensors, expected 2");
}

TEST_F(MessageFormat, IsRefusedWhenATensorIsNotFp32) {
  auto bytes = encode();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  put(bytes, text.find("F32"), "I32", 3);
  put_checksum(bytes);
  expect_refused(bytes, RefusalReason::tensors, "holds I32 values");
}

TEST_F(MessageFormat, IsRefusedWhenAShapeIsNotTheExpectedOne) {
  expected_.tensors[0].shape = {3};
  expect_refused(encode(), RefusalReason::shape, "'head.bias' has shape [2], expected [3]");
  expected_.tensors[0].shape = {2, 1};
  expect_refused(encode(), RefusalReason::shape, "[2, 1]");
  expected_.tensors[0].shape = {2};
  expected_.tensors[1].shape = {0, 4};
  expect_refused(encode(), RefusalReason::shape, "[0, 4] (0: any)");
}

TEST_F(MessageFormat, IsRefusedWhenAValueIsNotFinite) {
  for (const float bad : {INFINITY, -INFINITY, std::nanf("")}) {
    bias_[1] = bad;
    expect_refused(encode(), RefusalReason::not_finite, "value 1 of tensor 'head.bias'");
  }
}

TEST_F(MessageFormat, IsRefusedWhenItBringsMorePromptsThanAnybodyHas) {
  expected_.tensors[1].most = 2;
  EXPECT_TRUE(std::holds_alternative<Message>(decode_message(encode(), expected_)));
  expected_.tensors[1].most = 1;
  expect_refused(encode(), RefusalReason::shape, "expected [0, 3] (0: at most 1)");
}

TEST_F(MessageFormat, IsRefusedUnreadWhenItIsLongerThanAnyThatFits) {
  expected_.tensors[1].most = 2;
  std::vector<float> many(3 * 80'000, 0.5f);
  const std::vector<FloatTensor> state = {{"prompt_embeddings", {80'000, 3}, many},
                                          {"head.bias", {2}, bias_}};
  auto bytes = encode_message(envelope_, state);
  bytes.back() ^= std::byte{1};  // damaged, which nobody looks for any more
  expect_refused(bytes, RefusalReason::too_large, "960");
  expected_.tensors[1].most = 0;
  expect_refused(bytes, RefusalReason::checksum, "checksum");
}

TEST_F(MessageFormat, IsTheSameInMemoryThatHeldAnother) {
  const std::vector<FloatTensor> state = {{"head.bias", {2}, bias_}};
  std::vector<std::byte> bytes(10'000, std::byte{7});
  encode_message(envelope_, state, bytes);
  EXPECT_EQ(bytes, encode_message(envelope_, state));
}

TEST_F(MessageFormat, FitsInTheLongestThatIsExpected) {
  expected_.tensors[1].most = 2;
  const auto longest = longest_message_bytes(expected_.tensors);
  ASSERT_TRUE(longest.has_value());
  EXPECT_GE(*longest, encode().size());
  expected_.tensors[1].most = 3;
  EXPECT_EQ(longest_message_bytes(expected_.tensors), *longest + 3 * sizeof(float));
  expected_.tensors[1].most = 0;
  EXPECT_EQ(longest_message_bytes(expected_.tensors), std::nullopt);
}

TEST_F(MessageFormat, IsRefusedWhenAValueIsBeyondWhatCanBeLearnt) {
  for (const float fine : {1e9f, -1e9f, 0.0f}) {
    bias_[1] = fine;
    EXPECT_TRUE(std::holds_alternative<Message>(decode_message(encode(), expected_))) << fine;
    EXPECT_TRUE(may_be_sent(bias_));
  }
  for (const float bad : {1e38f, -1.1e9f, 1.001e9f}) {
    bias_[1] = bad;
    expect_refused(encode(), RefusalReason::magnitude, "value 1 of tensor 'head.bias'");
    EXPECT_FALSE(may_be_sent(bias_));
  }
  bias_[1] = -0.5f;
  expected_.tensors[0].least_value = 0;
  expect_refused(encode(), RefusalReason::magnitude, "-0.5");
}

TEST(Moment, IsOrderedByRoundThenPhase) {
  EXPECT_LT((Moment{3, 9}), (Moment{4, 0}));
  EXPECT_LT((Moment{4, 0}), (Moment{4, 1}));
}

TEST(RefusalReason, HasANameForEach) {
  for (const auto reason : kRefusalReasons) EXPECT_NE(to_string(reason), "unknown");
}

}  // namespace
}  // namespace dfrost
