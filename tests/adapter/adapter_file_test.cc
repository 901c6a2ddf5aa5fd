#include "adapter/adapter_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "backbone/random_weights.h"
#include "base/file.h"
#include "base/safetensors.h"
#include "dfrost/adapter.h"
#include "support/support.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

StoredAdapter small_adapter() {
  StoredAdapter adapter;
  auto& card = adapter.card;
  card.method = "dfrost+";
  card.model = "client-007";
  card.round = 40;
  card.seed = 5;
  card.backbone = "vit \"b\".safetensors";
  card.fingerprint = "0123456789abcdef";
  card.geometry = geometry_of_model("tiny");
  card.preprocessing.filter = ResizeFilter::bicubic;
  card.preprocessing.mean = {0.1f, 0.2f, 0.3f};
  card.adapter.prompts = {.count = 3, .pool = 5, .keys = PoolKeys::separate, .choice = PoolChoice::per_batch};
  card.adapter.head = {.kind = HeadKind::mlp, .classes = 5, .hidden = {7, 6}};
  card.mask = ClassMask::none;
  card.domains = {{"letters", 0, {"A", "B", "ü"}}, {"digits", 3, {"0", "1"}}};
  adapter.state = make_client_state(card.adapter, card.geometry, 1, 7);
  return adapter;
}

TEST(AdapterFile, ComesBackWithItsCard) {
  const test::TemporaryFolder folder;
  const auto adapter = small_adapter();
  write_adapter(folder / "a.safetensors", adapter.card, adapter.state);
  const auto back = read_adapter(folder / "a.safetensors");
  EXPECT_EQ(to_json(back.card), to_json(adapter.card));
  EXPECT_EQ(back.state.values, adapter.state.values);
  EXPECT_EQ(back.state.layout, adapter.state.layout);
  EXPECT_EQ(back.card.adapter.head.classes, 5u);
}

TEST(AdapterFile, IsRefusedWithoutACardOrWithOtherTensors) {
  const test::TemporaryFolder folder;
  const auto adapter = small_adapter();
  const auto path = folder / "a.safetensors";
  write_safetensors(path, tensors_of(adapter.state));
  test::expect_error(ErrorCode::data_loss, "no card", [&] { read_adapter(path); });
  auto card = adapter.card;
  card.adapter.prompts.pool = 6;
  write_adapter(path, card, adapter.state);
  test::expect_error(ErrorCode::data_loss, "prompt_embeddings", [&] { read_adapter(path); });
}

// What is read of a file after `damage` was done to its bytes: an error, a warning, or nothing noticed.
enum class Noticed { refused, warned, nothing };
template <typename Damage>
Noticed read_after(const std::vector<std::byte>& whole, const std::filesystem::path& path,
                   const Damage& damage) {
  auto bytes = whole;
  damage(bytes);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  try {
    return read_adapter(path).has_checksum ? Noticed::nothing : Noticed::warned;
  } catch (const Error&) {
    return Noticed::refused;
  }
}

TEST(AdapterFile, NoDamageGoesUnnoticed) {
  const test::TemporaryFolder folder;
  const auto adapter = small_adapter();
  const auto path = folder / "a.safetensors";
  write_adapter(path, adapter.card, adapter.state);
  const std::string text = read_text_file(path);
  const auto raw = std::as_bytes(std::span(text));
  const std::vector<std::byte> whole(raw.begin(), raw.end());
  using Bytes = std::vector<std::byte>;
  EXPECT_EQ(read_after(whole, path, [](Bytes&) {}), Noticed::nothing);
  std::size_t kinds = 0;
  const auto expect_refused = [&](const char* what, std::size_t at, const auto& damage) {
    ++kinds;
    EXPECT_EQ(read_after(whole, path, damage), Noticed::refused)
        << what << " at " << at << " of " << whole.size();
  };
  // Bytes all over the header and the values, each in two of its bits.
  const std::size_t values = whole.size() - adapter.state.values.size() * sizeof(float);
  for (std::size_t at = 0; at < whole.size(); at += at < values ? 7 : 997) {
    for (const unsigned bit : {0u, 6u})
      expect_refused("a flipped bit", at, [&](Bytes& b) { b[at] ^= std::byte(1u << bit); });
  }
  for (std::size_t part = 0; part < 8; ++part) {
    const std::size_t at = whole.size() * part / 8;
    const auto from = static_cast<std::ptrdiff_t>(at);
    expect_refused("an end cut off", at, [&](Bytes& b) { b.resize(at); });
    expect_refused("64 bytes lost", at, [&](Bytes& b) { b.erase(b.begin() + from, b.begin() + from + 64); });
    expect_refused("64 zeros", at, [&](Bytes& b) { std::fill_n(b.begin() + from, 64, std::byte{}); });
    expect_refused("64 bytes twice", at,
                   [&](Bytes& b) { std::copy_n(b.begin() + from, 64, b.begin() + from + 128); });
    expect_refused("a byte too many", at, [&](Bytes& b) { b.insert(b.begin() + from, std::byte{'0'}); });
  }
  EXPECT_GE(kinds, 56u);
}

TEST(AdapterFile, OfOtherValuesUnderTheSameChecksumIsRefused) {
  const test::TemporaryFolder folder;
  const auto adapter = small_adapter();
  const auto path = folder / "a.safetensors";
  write_adapter(path, adapter.card, adapter.state);
  auto state = adapter.state;
  std::swap(state.values[0], state.values[1]);
  const auto metadata = [&] {
    const SafetensorsFile file(path);
    return file.content().metadata;
  }();
  write_safetensors(path, tensors_of(state), metadata);
  test::expect_error(ErrorCode::data_loss, "checksum", [&] { read_adapter(path); });
  auto without = metadata;
  without.erase("checksum");  // lost, where the card says that there was one
  write_safetensors(path, tensors_of(adapter.state), without);
  test::expect_error(ErrorCode::data_loss, "checksum", [&] { read_adapter(path); });
}

TEST(AdapterFile, OfATimeWithoutChecksumsIsReadAndSaysSo) {
  const test::TemporaryFolder folder;
  const auto adapter = small_adapter();
  const auto path = folder / "a.safetensors";
  write_safetensors(path, tensors_of(adapter.state),
                    {{"format", "dfrost adapter"}, {"card", to_json(adapter.card).dump()}});
  const auto back = read_adapter(path);
  EXPECT_FALSE(back.has_checksum);
  EXPECT_EQ(back.state.values, adapter.state.values);
  EXPECT_FALSE(Adapter(path).info().verified);
  write_adapter(path, adapter.card, adapter.state);
  EXPECT_TRUE(read_adapter(path).has_checksum);
  EXPECT_TRUE(Adapter(path).info().verified);
}

TEST(AdapterFile, RefusesACardNestedWithoutEnd) {
  const test::TemporaryFolder folder;
  const auto path = folder / "a.safetensors";
  for (const auto& card :
       {std::string(500'000, '['), std::string(500'000, '[') + std::string(500'000, ']')}) {
    write_safetensors(path, tensors_of(small_adapter().state),
                      {{"format", "dfrost adapter"}, {"card", card}});
    test::expect_error(ErrorCode::data_loss, "the card cannot be read", [&] { read_adapter(path); });
  }
}

TEST(AdapterFile, RefusesCardsThatMakeNoSense) {
  const Json good = to_json(small_adapter().card);
  card_from_json(good, "test");
  const auto expect_refused = [&](const std::string& path, const Json& value, const std::string& text) {
    Json bad = good;
    bad[Json::json_pointer(path)] = value;
    test::expect_error(ErrorCode::data_loss, text, [&] { card_from_json(bad, "card of the test"); });
  };
  expect_refused("/method", 5, "card of the test");
  expect_refused("/backbone/geometry/width", 0, "zero");
  expect_refused("/backbone/geometry/width", -1, "beyond");
  expect_refused("/prompts/pool", 1'000'000'000, "beyond");
  expect_refused("/prompts/pool", 2, "cannot be chosen");
  expect_refused("/head/kind", "linaer", "linear");
  expect_refused("/domains/1/first_class", 4, "do not follow");
  expect_refused("/preprocessing/filter", "lanczos", "lanczos");
  expect_refused("/preprocessing/mean", Json::array({1, 2}), "card");
  Json newer = good;
  newer["format"] = 2;
  test::expect_error(ErrorCode::unimplemented, "format 2", [&] { card_from_json(newer, "test"); });
  test::expect_error(ErrorCode::data_loss, "card", [] { card_from_json(Json::array(), "test"); });
}

}  // namespace
}  // namespace dfrost
