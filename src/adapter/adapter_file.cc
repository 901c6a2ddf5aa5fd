#include "adapter/adapter_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/choice.h"
#include "base/content_hash.h"
#include "base/json.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

constexpr Choice<ResizeFilter> kFilters[] = {{ResizeFilter::nearest, "nearest"},
                                             {ResizeFilter::bilinear, "bilinear"},
                                             {ResizeFilter::bicubic, "bicubic"}};

Json to_json(const Geometry& g) {
  return {{"width", g.width},
          {"depth", g.depth},
          {"heads", g.heads},
          {"mlp_width", g.mlp_width},
          {"patch_size", g.patch_size},
          {"image_size", g.image_size},
          {"special_tokens", g.special_tokens},
          {"classes", g.classes},
          {"layer_norm_epsilon", g.layer_norm_epsilon}};
}

Geometry geometry_from(const Json& json) {
  Geometry g;
  for (const auto& [name, value] : {std::pair{"width", &g.width},
                                    {"depth", &g.depth},
                                    {"heads", &g.heads},
                                    {"mlp_width", &g.mlp_width},
                                    {"patch_size", &g.patch_size},
                                    {"image_size", &g.image_size},
                                    {"special_tokens", &g.special_tokens},
                                    {"classes", &g.classes}}) {
    json.at(name).get_to(*value);
  }
  json.at("layer_norm_epsilon").get_to(g.layer_norm_epsilon);
  return g;
}

Json to_json(const Preprocessing& p) {
  return {{"resize", p.resize}, {"stretch", p.stretch}, {"filter", word_of(kFilters, p.filter)},
          {"crop", p.crop},     {"mean", p.mean},       {"std", p.std}};
}

Preprocessing preprocessing_from(const Json& json) {
  Preprocessing p;
  json.at("resize").get_to(p.resize);
  json.at("stretch").get_to(p.stretch);
  p.filter = parse_choice(kFilters, "filter", json.at("filter").get<std::string>());
  json.at("crop").get_to(p.crop);
  json.at("mean").get_to(p.mean);
  json.at("std").get_to(p.std);
  p.validate();
  return p;
}

Json to_json(const PromptOptions& p) {
  return {{"count", p.count}, {"pool", p.pool}, {"keys", to_string(p.keys)}, {"choice", to_string(p.choice)}};
}

PromptOptions prompts_from(const Json& json) {
  PromptOptions p;
  json.at("count").get_to(p.count);
  json.at("pool").get_to(p.pool);
  p.keys = parse_pool_keys(json.at("keys").get<std::string>());
  p.choice = parse_pool_choice(json.at("choice").get<std::string>());
  return p;
}

std::vector<CardDomain> domains_from(const Json& json, std::size_t& classes) {
  std::vector<CardDomain> domains;
  classes = 0;
  for (const auto& entry : json) {
    domains.push_back({entry.at("name"), entry.at("first_class"), entry.at("classes")});
    // The classes of the domains follow one another.
    if (domains.back().first_class != classes || domains.back().class_names.empty())
      throw Error(ErrorCode::data_loss,
                  fmt::format("the classes of '{}' do not follow on", domains.back().name));
    classes += domains.back().class_names.size();
  }
  return domains;
}

// Nothing real is larger; what is claimed beyond it would only take memory.
void check_sizes(const AdapterCard& card) {
  constexpr std::size_t kMost = 65'536, kMostLayers = 64;
  const Geometry& g = card.geometry;
  std::vector<std::size_t> sizes = {g.width,
                                    g.depth,
                                    g.heads,
                                    g.mlp_width,
                                    g.classes,
                                    g.patch_size,
                                    g.special_tokens,
                                    g.image_size,
                                    card.adapter.prompts.count,
                                    card.adapter.prompts.pool,
                                    card.adapter.head.classes};
  const auto& hidden = card.adapter.head.hidden;
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  if (hidden.size() > kMostLayers || std::ranges::any_of(sizes, [](std::size_t s) { return s > kMost; }))
    throw Error(ErrorCode::data_loss, "a size in it is beyond anything real");
  if (g.width == 0 || g.patch_size == 0 || g.heads == 0)
    throw Error(ErrorCode::data_loss, "a size in it is zero");
}

// Says in the card that there is a checksum beside it: one that was lost is then missed.
constexpr const char* kChecksum = "checksum";
constexpr const char* kChecksumKind = "content-64";

// Of what the metadata says and of names, shapes and values; not of how a file lays them out, which other
// writers do otherwise.
class AdapterChecksum {
 public:
  explicit AdapterChecksum(const SafetensorsMetadata& metadata) {
    for (const char* key : {"format", "card"}) {
      const auto found = metadata.find(key);
      const std::string text = found == metadata.end() ? "" : found->second;
      hash_.add(std::span(text));
    }
  }
  void add(std::string_view name, const Shape& shape, std::span<const std::byte> values) {
    hash_.add(std::span(name));
    hash_.add(std::span(shape));
    hash_.add(values);
  }
  std::string hex() const { return hash_.hex(); }

 private:
  ContentHash hash_;
};

std::string checksum_of(const SafetensorsMetadata& metadata, std::vector<FloatTensor> tensors) {
  std::ranges::sort(tensors, {}, &FloatTensor::name);
  AdapterChecksum checksum(metadata);
  for (const auto& [name, shape, values] : tensors) checksum.add(name, shape, std::as_bytes(values));
  return checksum.hex();
}

bool promises_checksum(const std::string& card) {
  try {
    const auto json = parse_json(card, "card");
    return json.is_object() && json.contains(kChecksum);
  } catch (const Error&) {
    return false;  // whoever reads the card says what is wrong with it
  }
}

AdapterCard read_card(const Json& json) {
  AdapterCard card;
  if (const int format = json.at("format"); format != kAdapterFormat) {
    throw Error(ErrorCode::unimplemented,
                fmt::format("the card has format {}, this program reads {}", format, kAdapterFormat));
  }
  json.at("method").get_to(card.method);
  json.at("model").get_to(card.model);
  json.at("round").get_to(card.round);
  json.at("seed").get_to(card.seed);
  const auto& backbone = json.at("backbone");
  backbone.at("file").get_to(card.backbone);
  backbone.at("fingerprint").get_to(card.fingerprint);
  card.precision = parse_precision(backbone.at("precision").get<std::string>());
  card.geometry = geometry_from(backbone.at("geometry"));
  card.preprocessing = preprocessing_from(json.at("preprocessing"));
  card.adapter.prompts = prompts_from(json.at("prompts"));
  card.adapter.head.kind = parse_head_kind(json.at("head").at("kind").get<std::string>());
  json.at("head").at("hidden").get_to(card.adapter.head.hidden);
  card.mask = parse_class_mask(json.at("mask").get<std::string>());
  card.domains = domains_from(json.at("domains"), card.adapter.head.classes);
  check_sizes(card);
  card.adapter.validate(card.geometry);
  return card;
}

}  // namespace

Json to_json(const AdapterCard& card) {
  Json domains = Json::array();
  for (const auto& domain : card.domains) {
    domains.push_back(
        {{"name", domain.name}, {"first_class", domain.first_class}, {"classes", domain.class_names}});
  }
  return {{"format", kAdapterFormat},
          {"method", card.method},
          {"model", card.model},
          {"round", card.round},
          {"seed", card.seed},
          {"backbone",
           {{"file", card.backbone},
            {"fingerprint", card.fingerprint},
            {"precision", to_string(card.precision)},
            {"geometry", to_json(card.geometry)}}},
          {"preprocessing", to_json(card.preprocessing)},
          {"prompts", to_json(card.adapter.prompts)},
          {"head", {{"kind", to_string(card.adapter.head.kind)}, {"hidden", card.adapter.head.hidden}}},
          {"mask", to_string(card.mask)},
          {"domains", domains}};
}

AdapterCard card_from_json(const Json& json, const std::string& place) {
  try {
    return read_card(json);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::data_loss, fmt::format("the card cannot be read: {}", error.what())).at(place);
  } catch (const Error& error) {
    const auto code = error.code() == ErrorCode::unimplemented ? error.code() : ErrorCode::data_loss;
    throw Error(code, fmt::format("the card cannot be read: {}", error.what()), error.hint()).at(place);
  }
}

void write_adapter(const std::filesystem::path& path, const AdapterCard& card, const ClientState& state) {
  Json json = to_json(card);
  json[kChecksum] = kChecksumKind;
  const auto tensors = tensors_of(state);
  SafetensorsMetadata metadata = {{"format", "dfrost adapter"}, {"card", dump_json(json)}};
  metadata.emplace(kChecksum, checksum_of(metadata, tensors));
  write_safetensors(path, tensors, metadata);
}

std::optional<bool> is_undamaged(const Safetensors& content) {
  const auto card = content.metadata.find("card"), said = content.metadata.find(kChecksum);
  if (said == content.metadata.end()) {
    if (card == content.metadata.end()) return std::nullopt;
    return promises_checksum(card->second) ? std::optional(false) : std::nullopt;
  }
  AdapterChecksum checksum(content.metadata);
  for (const auto& [name, tensor] : content.tensors) checksum.add(name, tensor.shape, tensor.bytes);
  return checksum.hex() == said->second;
}

StoredAdapter read_adapter(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  const auto& metadata = file.content().metadata;
  const auto text = metadata.find("card");
  if (text == metadata.end()) {
    throw Error(ErrorCode::data_loss, "the file has no card: it does not say what its tensors belong to",
                "adapters are what 'dfrost run' leaves in the adapter folder of a run")
        .at(path.string());
  }
  const auto undamaged = is_undamaged(file.content());
  if (undamaged == false) {
    throw Error(ErrorCode::data_loss, "the adapter is damaged: its checksum is not that of its content",
                "copy it again, or write it anew by 'dfrost run --resume' of its run")
        .at(path.string());
  }
  StoredAdapter adapter;
  adapter.has_checksum = undamaged.has_value();
  adapter.card = card_from_json(parse_own_json(text->second), path.string());
  adapter.state.layout = layout_of(adapter.card.adapter, adapter.card.geometry);
  if (adapter.state.layout.size() > file.file().bytes().size()) {
    throw Error(ErrorCode::data_loss, "the card describes more values than the file has bytes")
        .at(path.string());
  }
  try {
    read_state(file.content(), adapter.state);
    file.file().check();
  } catch (Error& error) {
    throw error.at(path.string());
  }
  return adapter;
}

}  // namespace dfrost
