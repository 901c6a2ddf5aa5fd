// A restricted reader of Python pickles (protocols 2 to 5). It builds dicts, lists, tuples, texts and
// numbers, and *records* calls of named functions instead of making them: nothing is ever executed. Only the
// functions and classes in a given list may be named; any other, and any opcode that plain data does not
// need, is an Error that names it. Memory is bounded by the length of the pickle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace dfrost {

enum class PickleKind {
  none,
  boolean,
  integer,
  real,
  text,
  global,
  list,
  tuple,
  dict,
  call,
  persistent,
  mark
};

struct PickleObject;

// A scalar, or a reference to an object of the pickle (objects may be shared, and may hold themselves).
struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::int64_t integer = 0;              // integer, boolean
  std::string_view text = {};            // text; global: its name as in the list of those allowed
  const PickleObject* object = nullptr;  // list, tuple, dict, call, persistent
};

struct PickleObject {
  // list and tuple: the elements; dict: key, value, key, value …; call: the global and its arguments (a
  // tuple); persistent: its id.
  std::vector<PickleValue> items;
};

struct Pickle {
  PickleValue root;
  std::deque<PickleObject> objects;  // owns what the values refer to
};

// Texts are views into `bytes`. `globals`: the names that may appear, "module.name"; a call of
// collections.OrderedDict without arguments, if allowed, gives an empty dict.
Pickle parse_pickle(std::span<const std::byte> bytes, std::span<const std::string_view> globals);

}  // namespace dfrost
