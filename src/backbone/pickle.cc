#include "backbone/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "base/byte_reader.h"
#include "base/malformed.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kLongestPickle = 8u << 20;  // a state dict of a thousand tensors takes 0.2 MB
constexpr std::size_t kMostObjects = 1'000'000;

// As Python's pickletools names them. These are understood:
enum Opcode : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kNone = 'N',
  kTrue = 0x88,
  kFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBuild = 'b',
  kProto = 0x80,
  kFrame = 0x95,
};

struct NamedOpcode {
  std::uint8_t code;
  std::string_view name;
};

// Those that a reader of the error may look up; they build or call arbitrary objects.
constexpr std::array kRefused = {
    NamedOpcode{'i', "INST"},
    NamedOpcode{'o', "OBJ"},
    NamedOpcode{0x81, "NEWOBJ"},
    NamedOpcode{0x92, "NEWOBJ_EX"},
    NamedOpcode{0x82, "EXT1"},
    NamedOpcode{0x83, "EXT2"},
    NamedOpcode{0x84, "EXT4"},
    NamedOpcode{'P', "PERSID"},
    NamedOpcode{'p', "PUT"},
    NamedOpcode{'g', "GET"},
    NamedOpcode{0x8b, "LONG4"},
    NamedOpcode{'U', "SHORT_BINSTRING"},
    NamedOpcode{'C', "SHORT_BINBYTES"},
    NamedOpcode{'B', "BINBYTES"},
    NamedOpcode{0x96, "BYTEARRAY8"},
    NamedOpcode{'0', "POP"},
    NamedOpcode{'2', "DUP"},
    NamedOpcode{'S', "STRING"},
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::unimplemented, message,
              "only a plain state dict is read, and nothing in the file is executed; save one with "
              "torch.save(model.state_dict(), path)");
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::span<const std::string_view> globals)
      : reader_(bytes, "the pickle"), globals_(globals) {}

  Pickle run() {
    for (;;) {
      const auto opcode = reader_.number<std::uint8_t>();
      if (opcode == kStop) break;
      if (!scalar(opcode) && !container(opcode) && !memo(opcode) && !call(opcode)) refuse_opcode(opcode);
    }
    pickle_.root = pop();
    return std::move(pickle_);
  }

 private:
  // --- the stack ---

  void push(PickleValue value) { stack_.push_back(value); }

  PickleValue pop() {
    if (stack_.empty() || stack_.back().kind == PickleKind::mark) {
      malformed(fmt::format("the pickle takes a value from an empty stack at byte {}", reader_.position()));
    }
    const PickleValue value = stack_.back();
    stack_.pop_back();
    return value;
  }

  PickleValue& top() {
    push(pop());
    return stack_.back();
  }

  std::vector<PickleValue> pop_to_mark() {
    const auto mark = std::find_if(stack_.rbegin(), stack_.rend(),
                                   [](const PickleValue& value) { return value.kind == PickleKind::mark; });
    if (mark == stack_.rend())
      malformed(fmt::format("the pickle has no mark at byte {}", reader_.position()));
    std::vector<PickleValue> values(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return values;
  }

  std::vector<PickleValue> pop_many(std::size_t count) {
    std::vector<PickleValue> values(count);
    for (std::size_t i = count; i-- > 0;) values[i] = pop();
    return values;
  }

  PickleValue make(PickleKind kind, std::vector<PickleValue> items) {
    if (pickle_.objects.size() == kMostObjects)
      refuse(fmt::format("the pickle holds more than {} objects", kMostObjects));
    pickle_.objects.push_back({std::move(items)});
    return {.kind = kind, .object = &pickle_.objects.back()};
  }

  // --- the opcodes; each group returns whether the opcode is one of its own ---

  bool scalar(std::uint8_t opcode) {
    switch (opcode) {
      case kNone: push({}); return true;
      case kTrue: push({.kind = PickleKind::boolean, .integer = 1}); return true;
      case kFalse: push({.kind = PickleKind::boolean, .integer = 0}); return true;
      case kBinInt: push_integer(reader_.number<std::int32_t>()); return true;
      case kBinInt1: push_integer(reader_.number<std::uint8_t>()); return true;
      case kBinInt2: push_integer(reader_.number<std::uint16_t>()); return true;
      case kLong1: push_integer(read_long(reader_.number<std::uint8_t>())); return true;
      case kBinFloat:
        reader_.take(8);  // learning rates and the like: never part of a tensor
        push({.kind = PickleKind::real});
        return true;
      case kBinUnicode: push_text(reader_.number<std::uint32_t>()); return true;
      case kShortBinUnicode: push_text(reader_.number<std::uint8_t>()); return true;
      case kBinUnicode8: push_text(reader_.number<std::uint64_t>()); return true;
      default: return false;
    }
  }

  void push_integer(std::int64_t value) { push({.kind = PickleKind::integer, .integer = value}); }
  void push_text(std::size_t bytes) { push({.kind = PickleKind::text, .text = reader_.text(bytes)}); }

  // Little-endian two's complement of any length.
  std::int64_t read_long(std::size_t bytes) {
    if (bytes > 8) refuse(fmt::format("the pickle holds an integer of {} bytes, expected at most 8", bytes));
    std::uint64_t value = 0;
    const auto digits = reader_.take(bytes);
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(digits[i]);
    const bool negative = bytes > 0 && (digits.back() & std::byte{0x80}) != std::byte{0};
    if (negative && bytes < 8) value |= ~std::uint64_t{0} << (8 * bytes);
    return static_cast<std::int64_t>(value);
  }

  bool container(std::uint8_t opcode) {
    switch (opcode) {
      case kMark: push({.kind = PickleKind::mark}); return true;
      case kEmptyTuple: push(make(PickleKind::tuple, {})); return true;
      case kTuple: push(make(PickleKind::tuple, pop_to_mark())); return true;
      case kTuple1: push(make(PickleKind::tuple, pop_many(1))); return true;
      case kTuple2: push(make(PickleKind::tuple, pop_many(2))); return true;
      case kTuple3: push(make(PickleKind::tuple, pop_many(3))); return true;
      case kEmptyList: push(make(PickleKind::list, {})); return true;
      case kAppend: extend(PickleKind::list, pop_many(1)); return true;
      case kAppends: extend(PickleKind::list, pop_to_mark()); return true;
      case kEmptyDict: push(make(PickleKind::dict, {})); return true;
      case kSetItem: extend(PickleKind::dict, pop_many(2)); return true;
      case kSetItems: extend(PickleKind::dict, pop_to_mark()); return true;
      default: return false;
    }
  }

  // Adds to the list or dict on top of the stack.
  void extend(PickleKind kind, const std::vector<PickleValue>& items) {
    const PickleValue target = top();
    if (target.kind != kind || (kind == PickleKind::dict && items.size() % 2 != 0)) {
      malformed(
          fmt::format("the pickle adds items to what cannot hold them, at byte {}", reader_.position()));
    }
    auto& held = const_cast<PickleObject*>(target.object)->items;  // this machine made it and still owns it
    held.insert(held.end(), items.begin(), items.end());
  }

  bool memo(std::uint8_t opcode) {
    switch (opcode) {
      case kBinPut: memo_[reader_.number<std::uint8_t>()] = top(); return true;
      case kLongBinPut: memo_[reader_.number<std::uint32_t>()] = top(); return true;
      case kMemoize: memo_[static_cast<std::uint32_t>(memo_.size())] = top(); return true;
      case kBinGet: push(recall(reader_.number<std::uint8_t>())); return true;
      case kLongBinGet: push(recall(reader_.number<std::uint32_t>())); return true;
      default: return false;
    }
  }

  PickleValue recall(std::uint32_t index) const {
    const auto found = memo_.find(index);
    if (found == memo_.end())
      malformed(fmt::format("the pickle recalls memo {}, which was never stored", index));
    return found->second;
  }

  bool call(std::uint8_t opcode) {
    switch (opcode) {
      case kProto:
        if (const auto version = reader_.number<std::uint8_t>(); version < 2 || version > 5) {
          refuse(fmt::format("the pickle is of protocol {}, expected 2 to 5", version));
        }
        return true;
      case kFrame: reader_.take(8); return true;  // a hint about buffering
      case kGlobal: {
        const auto module = reader_.line();
        push_global(module, reader_.line());
        return true;
      }
      case kStackGlobal: {
        const auto name = pop();
        const auto module = pop();
        if (name.kind != PickleKind::text || module.kind != PickleKind::text)
          malformed("a global's name is not a text");
        push_global(module.text, name.text);
        return true;
      }
      case kBinPersId: push(make(PickleKind::persistent, pop_many(1))); return true;
      case kReduce: reduce(); return true;
      case kBuild: build(); return true;
      default: return false;
    }
  }

  void push_global(std::string_view module, std::string_view name) {
    const std::string full = fmt::format("{}.{}", module.substr(0, 200), name.substr(0, 200));
    const auto known = std::find(globals_.begin(), globals_.end(), full);
    if (known == globals_.end())
      refuse(fmt::format("the pickle names {}, which no plain state dict needs", quote_name(full)));
    push({.kind = PickleKind::global, .text = *known});
  }

  void reduce() {
    const auto arguments = pop();
    const auto function = pop();
    if (function.kind != PickleKind::global || arguments.kind != PickleKind::tuple) {
      refuse("the pickle calls something that is not a known function");
    }
    if (function.text != "collections.OrderedDict") {
      push(make(PickleKind::call, {function, arguments}));
    } else if (arguments.object->items.empty()) {
      push(make(PickleKind::dict, {}));
    } else {
      refuse("the pickle builds an OrderedDict from arguments");
    }
  }

  // Attributes of an object. PyTorch hangs the versions of the modules onto a state dict; they are not
  // needed.
  void build() {
    pop();
    if (top().kind != PickleKind::dict) refuse("the pickle sets the attributes of an object (opcode BUILD)");
  }

  [[noreturn]] void refuse_opcode(std::uint8_t opcode) const {
    const auto known = std::find_if(kRefused.begin(), kRefused.end(),
                                    [opcode](const NamedOpcode& named) { return named.code == opcode; });
    refuse(fmt::format("the pickle uses opcode {} (0x{:02x}) at byte {}, which no plain state dict needs",
                       known == kRefused.end() ? "unknown" : known->name, opcode, reader_.position() - 1));
  }

  ByteReader reader_;
  std::span<const std::string_view> globals_;
  Pickle pickle_;
  std::vector<PickleValue> stack_;
  std::unordered_map<std::uint32_t, PickleValue> memo_;
};

}  // namespace

Pickle parse_pickle(std::span<const std::byte> bytes, std::span<const std::string_view> globals) {
  if (bytes.size() > kLongestPickle) {
    refuse(fmt::format("the pickle is {} bytes, expected at most {} for a state dict", bytes.size(),
                       kLongestPickle));
  }
  return Machine(bytes, globals).run();
}

}  // namespace dfrost
