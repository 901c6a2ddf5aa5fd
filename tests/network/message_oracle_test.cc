// Messages against a reader and writer made from docs/reference/message-format.md alone, in Python.

#include <gtest/gtest.h>

#include "base/file.h"
#include "network/message.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(MessageFormat, IsWhatItsPageSays) {
  const test::TemporaryFolder folder;
  const std::vector<float> prompts = {1, 2, 3, 4, 5, 6};
  const std::vector<float> bias = {0.5f, -0.25f};
  const std::vector<FloatTensor> state = {{"prompt_embeddings", {2, 3}, prompts}, {"head.bias", {2}, bias}};
  Envelope envelope{.sender = 7, .moment = {12, 1}};
  for (std::size_t i = 0; i < 16; ++i) envelope.run.bytes[i] = static_cast<std::byte>(0xf0 + i);
  write_file_atomically(folder / "ours", encode_message(envelope, state));
  test::run_python("network/message_oracle.py",
                   (folder / "ours").string() + " " + (folder / "theirs").string());
  const MappedFile theirs(folder / "theirs");
  envelope.sender = 4;
  envelope.moment = {1ull << 40, 5};
  const auto result =
      decode_message(theirs.bytes(), {.envelope = envelope, .tensors = {{"prompt_embeddings", {0, 2}}}});
  ASSERT_TRUE(std::holds_alternative<Message>(result)) << std::get<Refusal>(result).text;
  EXPECT_EQ(std::get<Message>(result).tensors.at("prompt_embeddings").values, (std::vector<float>{1, -2}));
}

}  // namespace
}  // namespace dfrost
