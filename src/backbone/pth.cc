#include "backbone/pth.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "backbone/pickle.h"
#include "backbone/zip.h"
#include "base/malformed.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";

struct StorageClass {
  std::string_view name;
  TensorType type;
};

constexpr std::array kStorages = {
    StorageClass{"torch.FloatStorage", TensorType::f32},
    StorageClass{"torch.HalfStorage", TensorType::f16},
    StorageClass{"torch.BFloat16Storage", TensorType::bf16},
    StorageClass{"torch.DoubleStorage", TensorType::f64},
    StorageClass{"torch.LongStorage", TensorType::i64},
    StorageClass{"torch.IntStorage", TensorType::i32},
    StorageClass{"torch.ShortStorage", TensorType::i16},
    StorageClass{"torch.CharStorage", TensorType::i8},
    StorageClass{"torch.ByteStorage", TensorType::u8},
    StorageClass{"torch.BoolStorage", TensorType::boolean},
};

constexpr auto kGlobals = [] {
  std::array<std::string_view, kStorages.size() + 3> names{kRebuildTensor, kRebuildParameter,
                                                           "collections.OrderedDict"};
  for (std::size_t i = 0; i < kStorages.size(); ++i) names[i + 3] = kStorages[i].name;
  return names;
}();

// The files of the archive that a state dict needs; all stand in one folder, named after the archive.
struct Archive {
  ZipEntries entries;
  std::string folder;  // "archive/"

  const std::span<const std::byte>* find(const std::string& name) const {
    const auto found = entries.find(folder + name);
    return found == entries.end() ? nullptr : &found->second;
  }
};

Archive open_archive(std::span<const std::byte> bytes) {
  if (!bytes.empty() && bytes[0] == std::byte{0x80}) {  // a bare pickle
    throw Error(ErrorCode::unimplemented, "saved in the format that PyTorch used before version 1.6",
                "load it once with PyTorch and save it again: torch.save(torch.load(path), new_path)");
  }
  Archive archive{stored_zip_entries(bytes), {}};
  constexpr std::string_view kPickle = "data.pkl";
  for (const auto& [name, content] : archive.entries) {
    const auto slash = name.find('/');
    if (slash != std::string::npos && name.substr(slash + 1) == kPickle)
      archive.folder = name.substr(0, slash + 1);
  }
  if (archive.find(std::string(kPickle)) == nullptr)
    malformed("the zip archive has no data.pkl: not a PyTorch archive");
  if (archive.find("constants.pkl") != nullptr) {
    throw Error(ErrorCode::unimplemented, "a TorchScript program, expected a state dict",
                "save the weights alone: torch.save(torch.jit.load(path).state_dict(), new_path)");
  }
  if (const auto* order = archive.find("byteorder"); order != nullptr) {
    const std::string_view text(reinterpret_cast<const char*>(order->data()), order->size());
    if (text != "little")
      throw Error(ErrorCode::unimplemented,
                  fmt::format("byte order {}, expected 'little'", quote_name(text)));
  }
  return archive;
}

// One tensor's record: what the pickle says, checked against what the archive holds.
class TensorBuilder {
 public:
  TensorBuilder(const Archive& archive, std::string_view name) : archive_(archive), name_(name) {}

  PthTensor build(const PickleValue& value) const {
    const auto* arguments = arguments_of(value, kRebuildParameter);
    if (arguments != nullptr) {  // a parameter is its tensor, and whether it wants a gradient
      if (arguments->items.empty()) foreign("a parameter");
      return build_tensor(arguments->items[0]);
    }
    return build_tensor(value);
  }

 private:
  [[noreturn]] void foreign(std::string_view what) const {
    malformed(fmt::format("tensor {}: {} is not as PyTorch writes it", quote_name(name_), what));
  }

  static const PickleObject* arguments_of(const PickleValue& value, std::string_view function) {
    if (value.kind != PickleKind::call || value.object->items[0].text != function) return nullptr;
    return value.object->items[1].object;
  }

  // Arguments: storage, offset, shape, strides, wants gradient, hooks[, metadata].
  PthTensor build_tensor(const PickleValue& value) const {
    const auto* arguments = arguments_of(value, kRebuildTensor);
    if (arguments == nullptr)
      malformed(fmt::format("entry {} is not a tensor, expected a state dict", quote_name(name_)));
    if (arguments->items.size() < 4) foreign("its list of arguments");
    PthTensor tensor;
    tensor.bytes = storage(arguments->items[0], tensor.type);
    const std::size_t offset = whole_number(arguments->items[1], "the offset");
    tensor.shape = whole_numbers(arguments->items[2], "the shape");
    tensor.strides = whole_numbers(arguments->items[3], "the strides");
    if (tensor.shape.size() != tensor.strides.size()) foreign("the number of strides");
    check_extent(tensor, offset);
    if (element_count(tensor.shape) != 0u) tensor.bytes = tensor.bytes.subspan(offset * size_of(tensor.type));
    return tensor;
  }

  // The persistent id ('storage', class, key, device, number of elements) names the file data/<key>.
  std::span<const std::byte> storage(const PickleValue& value, TensorType& type) const {
    if (value.kind != PickleKind::persistent || value.object->items[0].kind != PickleKind::tuple)
      foreign("the storage");
    const auto& id = value.object->items[0].object->items;
    if (id.size() != 5 || id[0].text != "storage" || id[1].kind != PickleKind::global ||
        id[2].kind != PickleKind::text) {
      foreign("the storage");
    }
    const StorageClass* known = nullptr;
    for (const auto& row : kStorages) {
      if (row.name == id[1].text) known = &row;
    }
    if (known == nullptr) foreign("the storage's class");
    type = known->type;
    const auto* content = archive_.find(fmt::format("data/{}", id[2].text.substr(0, 200)));
    if (content == nullptr)
      malformed(
          fmt::format("tensor {}: the archive has no data/{}", quote_name(name_), id[2].text.substr(0, 200)));
    std::size_t expected = 0;
    if (__builtin_mul_overflow(whole_number(id[4], "the storage's size"), size_of(type), &expected) ||
        content->size() != expected) {
      malformed(fmt::format("tensor {}: data/{} is {} bytes, expected {} values of {}", quote_name(name_),
                            id[2].text.substr(0, 200), content->size(), id[4].integer, to_string(type)));
    }
    return *content;
  }

  std::size_t whole_number(const PickleValue& value, std::string_view what) const {
    if (value.kind != PickleKind::integer || value.integer < 0) foreign(what);
    return static_cast<std::size_t>(value.integer);
  }

  Shape whole_numbers(const PickleValue& value, std::string_view what) const {
    constexpr std::size_t kMostDimensions = 16;
    if (value.kind != PickleKind::tuple || value.object->items.size() > kMostDimensions) foreign(what);
    Shape numbers;
    for (const auto& item : value.object->items) numbers.push_back(whole_number(item, what));
    return numbers;
  }

  void check_extent(const PthTensor& tensor, std::size_t offset) const {
    const std::size_t held = tensor.bytes.size() / size_of(tensor.type);
    const auto count = element_count(tensor.shape);
    bool fits = count && *count <= held;
    if (fits && *count > 0) {
      std::size_t last = offset;  // the farthest element
      for (std::size_t i = 0; i < tensor.shape.size() && fits; ++i) {
        std::size_t step = 0;
        fits = !__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &step) &&
               !__builtin_add_overflow(last, step, &last);
      }
      fits = fits && last < held;
    }
    if (!fits) {
      malformed(
          fmt::format("tensor {}: shape {} with strides {} from {} does not lie in its {} stored values",
                      quote_name(name_), to_string(tensor.shape), to_string(tensor.strides), offset, held));
    }
  }

  const Archive& archive_;
  std::string_view name_;
};

// The value of a key of a dict; the last one, as in Python.
const PickleValue* lookup(const PickleValue& dict, std::string_view key) {
  const auto& items = dict.object->items;
  for (std::size_t i = items.size(); i >= 2; i -= 2) {
    if (items[i - 2].kind == PickleKind::text && items[i - 2].text == key) return &items[i - 1];
  }
  return nullptr;
}

PickleValue find_state_dict(const PickleValue& root) {
  if (root.kind != PickleKind::dict) malformed("the pickle does not hold a dict, expected a state dict");
  for (const std::string_view key : {"model", "state_dict"}) {
    const auto* inner = lookup(root, key);
    if (inner != nullptr && inner->kind == PickleKind::dict) return *inner;
  }
  return root;
}

PthTensors parse(std::span<const std::byte> bytes) {
  const Archive archive = open_archive(bytes);
  const Pickle pickle = parse_pickle(*archive.find("data.pkl"), kGlobals);
  const auto& items = find_state_dict(pickle.root).object->items;
  PthTensors tensors;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    if (items[i].kind != PickleKind::text) malformed("the state dict has a key that is not a text");
    const std::string name(items[i].text);
    if (!tensors.emplace(name, TensorBuilder(archive, name).build(items[i + 1])).second) {
      malformed(fmt::format("tensor {} appears twice", quote_name(name)));
    }
  }
  return tensors;
}

// The elements gathered in row-major order.
std::vector<std::byte> gather(const PthTensor& tensor, std::size_t count) {
  const std::size_t size = size_of(tensor.type);
  std::vector<std::byte> packed(count * size);
  Shape index(tensor.shape.size(), 0);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(packed.data() + i * size, tensor.bytes.data() + offset * size, size);
    for (std::size_t axis = index.size(); axis-- > 0;) {  // the next index, as an odometer turns
      offset += tensor.strides[axis];
      if (++index[axis] < tensor.shape[axis]) break;
      offset -= tensor.strides[axis] * tensor.shape[axis];
      index[axis] = 0;
    }
  }
  return packed;
}

bool is_row_major(const PthTensor& tensor) {
  std::size_t expected = 1;
  for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

}  // namespace

PthTensors parse_pth(std::span<const std::byte> archive, const std::string& place) {
  try {
    return parse(archive);
  } catch (Error& error) {
    error.at(place);
    throw;
  }
}

void read_floats(const PthTensor& tensor, std::string_view name, std::span<float> values) {
  if (values.empty()) return;
  if (is_row_major(tensor)) {
    return read_floats(
        TensorView{tensor.type, tensor.shape, tensor.bytes.first(values.size() * size_of(tensor.type))}, name,
        values);
  }
  const auto packed = gather(tensor, values.size());
  read_floats(TensorView{tensor.type, tensor.shape, packed}, name, values);
}

}  // namespace dfrost
