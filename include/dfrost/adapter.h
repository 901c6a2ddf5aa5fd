// What a run has trained, at work: a client's prompts and head, or the network model's, with the card that
// says which backbone they belong around, how pictures are prepared and what the classes are called. Adapters
// lie in a run's folder as adapter/network.safetensors and adapter/client-000.safetensors, …; one that is
// copied elsewhere keeps its card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dfrost/backbone.h"
#include "dfrost/geometry.h"
#include "dfrost/image.h"
#include "dfrost/preprocessing.h"

namespace dfrost {

struct AdapterDomain {
  std::string name;
  std::size_t first_class = 0;  // classes of all domains are numbered in one row
  std::vector<std::string> class_names;
};

// What the card says.
struct AdapterInfo {
  std::string method;  // "dfrost"
  std::string model;   // "network", or "client-007"
  std::size_t round = 0;
  std::uint64_t seed = 0;
  std::string backbone;              // its name or its file's, for people
  std::string backbone_fingerprint;  // of its weights: what tells it apart
  Precision precision = Precision::fp32;
  Geometry geometry;
  Preprocessing preprocessing;
  std::vector<AdapterDomain> domains;
  // What is trained: "linear", "mlp" (ReLU between its layers) or "pfpt" (on top of the checkpoint's own
  // logits); the prompts that a picture sees, and the pool that it chooses them from (0: none).
  std::string head = "linear";
  std::size_t prompts = 0;
  std::size_t pool = 0;
  // What was read is what was written; false: an adapter of an earlier version, which carries no checksum.
  bool verified = false;
};

// Row-major; points into the adapter.
struct AdapterTensor {
  std::string_view name;  // "prompt_embeddings", "head.0.weight", …
  std::vector<std::size_t> shape;
  std::span<const float> values;
};

// Immutable, and cheap to copy: copies share what they hold.
class Adapter {
 public:
  // Throws (not_found, data_loss) for a file that is not there, holds no adapter or a damaged one.
  explicit Adapter(const std::filesystem::path& file);

  const AdapterInfo& info() const;
  std::vector<AdapterTensor> tensors() const;

 private:
  friend class Classifier;
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

struct Guess {
  std::string domain;
  std::string class_name;
  std::size_t class_index = 0;
  double probability = 0;
};

struct ClassifierOptions {
  // A name or a path, as load_backbone() takes it; empty: what the card names.
  std::filesystem::path backbone = {};
  Precision precision = Precision::automatic;  // automatic: as it was trained
  std::size_t threads = 0;                     // 0: as many as this process may use
};

// An adapter around its backbone. One call at a time.
class Classifier {
 public:
  // Throws (failed_precondition) where the backbone is another than the card names.
  explicit Classifier(const Adapter& adapter, const ClassifierOptions& options = {});
  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

  // The most probable classes first, at most `top`; among those of `domain` alone where one is named.
  std::vector<Guess> classify(const ImageView& picture, std::size_t top = 3, std::string_view domain = {});

  // Of all classes, as they are numbered by the card.
  std::vector<float> logits(const ImageView& picture);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dfrost
