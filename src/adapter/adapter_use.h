// Trained adapters at work: the backbone that a card asks for, pictures labelled as the card numbers its
// classes, and what an adapter sees on a picture.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/adapter_file.h"
#include "backbone/checkpoint.h"
#include "base/thread_pool.h"
#include "data/corpus.h"
#include "dfrost/image.h"
#include "train/training_step.h"

namespace dfrost {

// The checkpoint at the image size and with the heads that the adapter was trained with. Throws
// (failed_precondition, with what the card names) where it is not that backbone.
std::unique_ptr<Checkpoint> open_backbone_of(const AdapterCard& card, const std::filesystem::path& path);

// By name; throws (not_found, with the nearest as a hint) where the card has none of that name.
const CardDomain& find_domain(const AdapterCard& card, std::string_view name);

// Data sets whose names are domains of the card; classes are found by their names, so that some may be
// missing. Throws (failed_precondition) for a class that the adapter does not know.
Corpus open_pictures_for(const AdapterCard& card, const CorpusOptions& options, const ReadOptions& read = {});

// The logits of all classes for one picture, prepared as the card says.
std::vector<float> logits_of(const StoredAdapter& adapter, const ImageView& picture, Workspace& workspace,
                             ThreadPool* threads);

// A class as people know it; points into the card.
struct ClassName {
  const std::string& domain;
  const std::string& name;
};
ClassName class_name(const AdapterCard& card, std::size_t index);

struct Prediction {
  std::size_t class_index = 0;
  double probability = 0;
};
// Softmax over the classes of `range` alone; the most probable first, at most `top` of them.
std::vector<Prediction> best_predictions(std::span<const float> logits, ClassRange range, std::size_t top);

}  // namespace dfrost
