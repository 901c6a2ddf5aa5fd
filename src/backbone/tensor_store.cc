#include "backbone/tensor_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "backbone/pth.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/safetensors.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// One safetensors file, or several that an index joins.
class SafetensorsStore : public TensorStore {
 public:
  explicit SafetensorsStore(const fs::path& path) : TensorStore(path) {
    const auto& content = files_.emplace_back(path).content();
    for (const auto& [name, tensor] : content.tensors) add(name, tensor);
  }

  // Which shard holds which tensor, as Hugging Face writes it: {"weight_map": {"tensor": "file"}}.
  SafetensorsStore(const fs::path& index, const nlohmann::json& weight_map) : TensorStore(index) {
    std::map<std::string, const SafetensorsFile*> shards;
    for (const auto& [name, file] : weight_map.items()) {
      const auto shard = shard_name(name, file);
      auto& opened = shards[shard];
      if (opened == nullptr) opened = &files_.emplace_back(index.parent_path() / shard);
      const auto& tensors = opened->content().tensors;
      const auto tensor = tensors.find(name);
      if (tensor == tensors.end()) {
        throw Error(ErrorCode::data_loss, fmt::format("tensor {} is not in {}, where the index says it is",
                                                      quote_name(name), quote_name(shard)))
            .at(index.string());
      }
      add(name, tensor->second);
    }
  }

  void read(std::string_view name, std::span<float> values) const override {
    const auto& tensor = views_.find(name)->second;
    read_floats(tensor, name, values);
    release_pages(tensor.bytes);
  }

  std::size_t file_bytes() const override {
    std::size_t bytes = 0;
    for (const auto& file : files_) bytes += file.file().bytes().size();
    return bytes;
  }

 private:
  void add(const std::string& name, const TensorView& tensor) {
    tensors_.emplace(name, TensorDescription{tensor.type, tensor.shape});
    views_.emplace(name, tensor);
  }

  // A shard stands beside its index: a name that leads elsewhere is not one.
  std::string shard_name(const std::string& tensor, const nlohmann::json& file) const {
    constexpr std::size_t kMostShards = 1000;
    const auto* name = file.get_ptr<const std::string*>();
    if (name == nullptr || name->empty() || *name != fs::path(*name).filename()) {
      throw Error(ErrorCode::data_loss,
                  fmt::format("tensor {}: {} is not the name of a file beside the index", quote_name(tensor),
                              name == nullptr ? "the value" : quote_name(*name)))
          .at(path().string());
    }
    if (files_.size() >= kMostShards) {
      throw Error(ErrorCode::unimplemented, fmt::format("more than {} shards", kMostShards))
          .at(path().string());
    }
    return *name;
  }

  std::deque<SafetensorsFile> files_;
  std::map<std::string, TensorView, std::less<>> views_;
};

class PthStore : public TensorStore {
 public:
  explicit PthStore(const fs::path& path)
      : TensorStore(path), file_(path), pth_(parse_pth(file_.bytes(), path.string())) {
    for (const auto& [name, tensor] : pth_)
      tensors_.emplace(name, TensorDescription{tensor.type, tensor.shape});
  }

  void read(std::string_view name, std::span<float> values) const override {
    const auto& tensor = pth_.find(name)->second;
    read_floats(tensor, name, values);
    release_pages(tensor.bytes);
  }
  std::size_t file_bytes() const override { return file_.bytes().size(); }

 private:
  MappedFile file_;
  PthTensors pth_;
};

std::unique_ptr<TensorStore> open_index(const fs::path& path) {
  const auto index = read_json_file(path);
  const auto weight_map = index.is_object() ? index.find("weight_map") : index.end();
  if (weight_map == index.end() || !weight_map->is_object()) {
    throw Error(ErrorCode::data_loss, "no weight_map, expected the index of a sharded checkpoint")
        .at(path.string());
  }
  return std::make_unique<SafetensorsStore>(path, *weight_map);
}

fs::path checkpoint_in(const fs::path& folder) {
  constexpr std::array kNames = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"};
  for (const auto* name : kNames) {
    if (fs::exists(folder / name)) return folder / name;
  }
  throw Error(ErrorCode::not_found, fmt::format("no checkpoint in {}: expected {}, {} or {}", folder.string(),
                                                kNames[0], kNames[1], kNames[2]))
      .at(folder.string());
}

bool is_pytorch_archive(const fs::path& path) {
  const auto extension = path.extension();
  if (extension == ".pth" || extension == ".pt" || extension == ".bin") return true;
  const MappedFile file(path);
  constexpr std::string_view kZip = "PK\3\4";  // as safetensors this would be a header of 67 MB
  const auto bytes = file.bytes();
  return bytes.size() >= kZip.size() && std::memcmp(bytes.data(), kZip.data(), kZip.size()) == 0;
}

}  // namespace

std::unique_ptr<TensorStore> open_tensor_store(const std::filesystem::path& path) {
  const fs::path file = fs::is_directory(path) ? checkpoint_in(path) : path;
  if (file.extension() == ".json") return open_index(file);
  if (is_pytorch_archive(file)) return std::make_unique<PthStore>(file);
  return std::make_unique<SafetensorsStore>(file);
}

}  // namespace dfrost
