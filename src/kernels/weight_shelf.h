// Where packed matrices of a frozen model lie, when not in memory of their own: in some that several
// processes fill once and all read. Each has a name of its own, the same in every process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dfrost {

struct WeightRoom {
  std::shared_ptr<std::byte> data;  // from a page's beginning on
  bool is_filled = false;           // by another process, with what would be packed here: not to be written
};

class WeightMemory {
 public:
  virtual ~WeightMemory() = default;
  // Once for each name. Threads may call it at once.
  virtual WeightRoom room_for(const std::string& name, std::size_t bytes) = 0;
};

// A part of it, by what the names of all that is put there begin with. Without a memory: each matrix in its
// own.
struct WeightShelf {
  WeightMemory* memory = nullptr;
  std::string name = {};

  WeightShelf at(std::string_view part) const { return {memory, name + "/" + std::string(part)}; }
  WeightShelf at(std::size_t index) const { return at(std::to_string(index)); }
};

}  // namespace dfrost
