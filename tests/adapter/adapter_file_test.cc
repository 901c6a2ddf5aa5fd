#include "adapter/adapter_file.h"

#include <gtest/gtest.h>

#include "backbone/random_weights.h"
#include "base/safetensors.h"
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
