#include "backbone/tensor_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "backbone/pth.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/safetensors.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

class SafetensorsStore final : public TensorStore {
 public:
  explicit SafetensorsStore(const fs::path& path) : TensorStore(path), file_(path) {
    for (const auto& [name, tensor] : file_.content().tensors)
      tensors_.emplace(name, TensorDescription{tensor.type, tensor.shape});
  }

  void read(std::string_view name, std::span<float> values) const override {
    const auto& tensor = file_.content().tensors.find(name)->second;
    read_floats(tensor, name, values);
    file_.file().check();
    file_.file().release(tensor.bytes);
  }
  std::size_t file_bytes() const override { return file_.file().bytes().size(); }

 private:
  SafetensorsFile file_;
};

class PthStore final : public TensorStore {
 public:
  explicit PthStore(const fs::path& path)
      : TensorStore(path), file_(path), pth_(parse_pth(file_.bytes(), path.string())) {
    for (const auto& [name, tensor] : pth_)
      tensors_.emplace(name, TensorDescription{tensor.type, tensor.shape});
  }

  void read(std::string_view name, std::span<float> values) const override {
    const auto& tensor = pth_.find(name)->second;
    read_floats(tensor, name, values);
    file_.check();
    file_.release(tensor.bytes);
  }
  std::size_t file_bytes() const override { return file_.bytes().size(); }

 private:
  MappedFile file_;
  PthTensors pth_;
};

bool is_pytorch_archive(const fs::path& path) {
  const auto extension = path.extension();
  if (extension == ".pth" || extension == ".pt" || extension == ".bin") return true;
  constexpr std::string_view kZip = "PK\3\4";  // as safetensors this would be a header of 67 MB
  return read_file_start(path, kZip.size()) == kZip;
}

std::unique_ptr<TensorStore> open_file(const fs::path& path) {
  if (is_pytorch_archive(path)) return std::make_unique<PthStore>(path);
  return std::make_unique<SafetensorsStore>(path);
}

// Several files of either kind that an index joins, as Hugging Face writes it:
// {"weight_map": {"tensor": "file"}}.
class ShardedStore final : public TensorStore {
 public:
  ShardedStore(const fs::path& index, const nlohmann::json& weight_map) : TensorStore(index) {
    for (const auto& [name, file] : weight_map.items()) {
      const auto shard = shard_name(name, file);
      auto& opened = shards_[shard];
      if (opened == nullptr) opened = open_file(index.parent_path() / shard);
      const auto tensor = opened->tensors().find(name);
      if (tensor == opened->tensors().end()) {
        throw Error(ErrorCode::data_loss, fmt::format("tensor {} is not in {}, where the index says it is",
                                                      quote_name(name), quote_name(shard)))
            .at(index.string());
      }
      tensors_.insert(*tensor);
      holders_.emplace(name, opened.get());
    }
  }

  void read(std::string_view name, std::span<float> values) const override {
    holders_.find(name)->second->read(name, values);
  }

  std::size_t file_bytes() const override {
    std::size_t bytes = 0;
    for (const auto& [name, shard] : shards_) bytes += shard->file_bytes();
    return bytes;
  }

 private:
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
    if (shards_.size() >= kMostShards) {
      throw Error(ErrorCode::unimplemented, fmt::format("more than {} shards", kMostShards))
          .at(path().string());
    }
    return *name;
  }

  std::map<std::string, std::unique_ptr<TensorStore>> shards_;
  std::map<std::string, const TensorStore*, std::less<>> holders_;
};

// A model that was saved while something was wrapped around it: every name begins with the wrapper's.
class UnwrappedStore final : public TensorStore {
 public:
  UnwrappedStore(std::unique_ptr<TensorStore> wrapped, std::string_view prefix)
      : TensorStore(wrapped->path()), wrapped_(std::move(wrapped)), prefix_(prefix) {
    for (const auto& [name, tensor] : wrapped_->tensors())
      tensors_.emplace(name.substr(prefix_.size()), tensor);
  }

  void read(std::string_view name, std::span<float> values) const override {
    wrapped_->read(prefix_ + std::string(name), values);
  }
  std::size_t file_bytes() const override { return wrapped_->file_bytes(); }

 private:
  std::unique_ptr<TensorStore> wrapped_;
  std::string prefix_;
};

std::unique_ptr<TensorStore> unwrap(std::unique_ptr<TensorStore> store) {
  // DataParallel's and torch.compile's; one may be within the other.
  constexpr std::array<std::string_view, 3> kWrappers = {"module.", "_orig_mod.", "module."};
  for (const auto prefix : kWrappers) {
    const auto& tensors = store->tensors();
    const bool wrapped = !tensors.empty() && tensors.begin()->first.starts_with(prefix) &&
                         tensors.rbegin()->first.starts_with(prefix);  // they are sorted: so do all between
    if (wrapped) store = std::make_unique<UnwrappedStore>(std::move(store), prefix);
  }
  return store;
}

std::unique_ptr<TensorStore> open_index(const fs::path& path) {
  const auto index = read_json_file(path);
  const auto weight_map = index.is_object() ? index.find("weight_map") : index.end();
  if (weight_map == index.end() || !weight_map->is_object()) {
    throw Error(ErrorCode::data_loss, "no weight_map, expected the index of a sharded checkpoint")
        .at(path.string());
  }
  return std::make_unique<ShardedStore>(path, *weight_map);
}

fs::path checkpoint_in(const fs::path& folder) {
  constexpr std::array kNames = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                 "pytorch_model.bin.index.json"};
  for (const auto* name : kNames) {
    if (fs::exists(folder / name)) return folder / name;
  }
  throw Error(ErrorCode::not_found,
              fmt::format("no checkpoint in {}: expected {}", folder.string(), fmt::join(kNames, ", ")),
              "give the file itself where it has another name")
      .at(folder.string());
}

}  // namespace

std::unique_ptr<TensorStore> open_tensor_store(const std::filesystem::path& path) {
  const fs::path file = fs::is_directory(path) ? checkpoint_in(path) : path;
  return unwrap(file.extension() == ".json" ? open_index(file) : open_file(file));
}

}  // namespace dfrost
