// Short ways to write a Field for the tables of keys: count(DFROST_AT(train.batch), 1, 65'536).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "config/key.h"

namespace dfrost::fields {

// No experiment needs more of anything, and sums and products of a few such numbers still fit.
inline constexpr std::size_t kMost = 1'000'000'000;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Says where a value lies, in a RunConfig that may be changed and in one that may not.
#define DFROST_AT(member) ([](auto& config) -> auto& { return config.member; })

template <typename T, typename Access>
Place<T> place(Access) {
  return {[](RunConfig& config) -> T& { return Access{}(config); },
          [](const RunConfig& config) -> const T& { return Access{}(config); }};
}

template <typename Access>
Field flag(Access access) {
  return FlagField{place<bool>(access)};
}

template <typename Access>
Field count(Access access, std::size_t least = 0, std::size_t most = kMost) {
  return CountField{place<std::size_t>(access), least, most};
}

template <typename Access>
Field counts(Access access, std::size_t least, std::size_t most) {
  return CountsField{place<std::vector<std::size_t>>(access), least, most};
}

template <typename Access>
Field number(Access access) {
  return NumberField{place<double>(access), -kInfinity, kInfinity, false, false};
}

template <typename Access>
Field positive(Access access) {
  return NumberField{place<double>(access), 0, kInfinity, true, false};
}

template <typename Access>
Field not_negative(Access access) {
  return NumberField{place<double>(access), 0, kInfinity, false, false};
}

// From 0 to 1.
template <typename Access>
Field share(Access access) {
  return NumberField{place<double>(access), 0, 1, false, false};
}

// From 0 to 1, without 1.
template <typename Access>
Field share_below_one(Access access) {
  return NumberField{place<double>(access), 0, 1, false, true};
}

template <typename Access>
Field text(Access access) {
  return TextField{place<std::string>(access)};
}

template <typename Access>
Field path(Access access, bool may_be_name = false) {
  return PathField{place<std::filesystem::path>(access), may_be_name};
}

template <typename Enum>
using Words = std::vector<std::pair<Enum, std::string>>;

// The words for some values of an enum that has a to_string().
template <typename Enum>
Words<Enum> words(const std::vector<Enum>& values) {
  Words<Enum> result;
  for (const Enum value : values) result.emplace_back(value, to_string(value));
  return result;
}

template <typename Enum>
Words<Enum> words(std::initializer_list<Enum> values) {
  return words(std::vector<Enum>(values));
}

// Those of a table of words.
template <typename Row, std::size_t N>
auto words(const Row (&choices)[N]) {
  Words<std::remove_const_t<decltype(Row::value)>> result;
  for (const auto& choice : choices) result.emplace_back(choice.value, choice.word);
  return result;
}

template <typename Enum, typename Access>
Field word(Access access, const Words<Enum>& choices) {
  WordField field;
  std::vector<Enum> values;
  for (const auto& [value, name] : choices) {
    values.push_back(value);
    field.words.push_back(name);
  }
  field.set = [access, values](RunConfig& config, std::size_t index) { access(config) = values.at(index); };
  field.get = [access, values](const RunConfig& config) {
    std::size_t index = 0;
    while (index < values.size() && values[index] != access(config)) ++index;
    return index;
  };
  return field;
}

std::vector<ConfigKey> federation_keys();     // run, backbone, data, partition, network
std::vector<ConfigKey> learning_keys();       // method, ntk, train, prompts, head
std::vector<ConfigKey> merge_section_keys();  // merge
std::vector<ConfigKey> hostile_keys();        // attack, defence
std::vector<ConfigKey> privacy_keys();        // privacy
std::vector<ConfigKey> observer_keys();       // evaluate, diagnostics

}  // namespace dfrost::fields
