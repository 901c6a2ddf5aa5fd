// TOML from strangers: text whose depth is bounded before it is parsed, and tables of which every key is
// known and has the type and the size that it must have. Every failure is an Error (data_loss) without a
// place.
#pragma once

#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

// Throws where a line has so many dots that it could nest tables until the stack ends; the parser itself
// bounds the depth of values.
void refuse_deep_toml(std::string_view text);

toml::table parse_strict_toml(std::string_view text);

// The values of one table, each asked for once; done() refuses what nobody asked for.
class StrictTable {
 public:
  explicit StrictTable(const toml::table& table) : table_(table) {}

  std::string text(const std::string& key, std::size_t longest);
  std::uint64_t number(const std::string& key, std::uint64_t most);
  std::vector<std::string> texts(const std::string& key, std::size_t most, std::size_t longest);
  // Of [[key]], in order; none where there are none.
  std::vector<const toml::table*> tables(const std::string& key, std::size_t most);
  void done() const;

 private:
  const toml::node* find(const std::string& key);

  const toml::table& table_;
  std::set<std::string> asked_;
};

}  // namespace dfrost
