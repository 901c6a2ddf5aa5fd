// What was trained, in a file that can be used without the run: a client's prompts and head, and a card that
// says which backbone they belong around, how pictures are prepared, and what the classes are called. The
// card is JSON in the metadata of the safetensors file, so that a file that is copied keeps it.
// docs/reference/adapters.md has every field.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/safetensors.h"
#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "train/client_state.h"
#include "train/loss.h"

namespace dfrost {

inline constexpr int kAdapterFormat = 1;  // raised when an older reader would misread a card

struct CardDomain {
  std::string name;
  std::size_t first_class = 0;
  std::vector<std::string> class_names;

  ClassRange range() const { return {first_class, class_names.size()}; }
};

struct AdapterCard {
  std::string method;
  std::string model;  // "network", or "client-007"
  std::size_t round = 0;
  Seed seed = 0;
  // The backbone: its file's name, for people, and what tells it apart.
  std::string backbone;
  std::string fingerprint;  // weights_fingerprint()
  Precision precision = Precision::fp32;
  Geometry geometry;
  Preprocessing preprocessing;
  // What is trained.
  AdapterOptions adapter;
  ClassMask mask = ClassMask::domain;
  std::vector<CardDomain> domains;
};

nlohmann::ordered_json to_json(const AdapterCard& card);
// Throws (data_loss) at `place` for what is missing, of the wrong kind, or makes no sense.
AdapterCard card_from_json(const nlohmann::ordered_json& json, const std::string& place);

struct StoredAdapter {
  AdapterCard card;
  ClientState state;
  bool has_checksum = true;  // false: of a time when adapters had none, and damage need not show
};

void write_adapter(const std::filesystem::path& path, const AdapterCard& card, const ClientState& state);
// Throws (data_loss) for a file without a card, whose tensors are not those that its card says, or whose
// content is not what was written.
StoredAdapter read_adapter(const std::filesystem::path& path);

// What there is to say to people of an adapter without a checksum.
inline constexpr const char* kNoChecksum =
    "the adapter carries no checksum, so damage to it would go unnoticed";
inline constexpr const char* kNoChecksumHint =
    "it was written by an earlier dfrost; 'dfrost run --resume' of its run writes it anew, with one";

// Whether the content of a file is what write_adapter() wrote; nothing where it never said what that was: an
// adapter of an earlier version, or no adapter.
std::optional<bool> is_undamaged(const Safetensors& content);

}  // namespace dfrost
