#include "network/edge_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/file.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::string_view kSeparators = " \t\r,";
constexpr std::size_t kMostDigits = 40;  // of a number that is repeated to whoever wrote it

// The next word of the line, which is shortened by it; empty at the end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSeparators), line.size()));
  const auto word = line.substr(0, line.find_first_of(kSeparators));
  line.remove_prefix(word.size());
  return word;
}

ClientId parse_client(std::string_view word, std::size_t clients) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc::invalid_argument || end != word.data() + word.size()) {
    throw Error(ErrorCode::data_loss, fmt::format("{} is not a client number", quote_name(word)),
                "a line holds two client numbers, counted from 0");
  }
  if (error != std::errc() || number >= clients) {
    throw Error(ErrorCode::data_loss, fmt::format("there is no client {}", word.substr(0, kMostDigits)),
                fmt::format("there are {} clients, numbered 0 to {}", clients, clients - 1));
  }
  return static_cast<ClientId>(number);
}

void parse_line(std::string_view line, std::size_t clients, std::vector<Edge>& edges) {
  const auto first = take_word(line);
  if (first.empty()) return;
  const auto second = take_word(line);
  if (second.empty() || !take_word(line).empty()) {
    throw Error(ErrorCode::data_loss, "expected two client numbers on the line");
  }
  const ClientId a = parse_client(first, clients);
  const ClientId b = parse_client(second, clients);
  if (a == b) throw Error(ErrorCode::data_loss, fmt::format("client {} is linked to itself", a));
  edges.push_back(make_edge(a, b));
}

}  // namespace

std::vector<Edge> parse_edge_list(std::string_view text, std::size_t clients, const std::string& place) {
  std::vector<Edge> edges;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto length = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    try {
      parse_line(line.substr(0, line.find('#')), clients, edges);
    } catch (Error& error) {
      error.at(fmt::format("{}, line {}", place, number));
      throw;
    }
  }
  return edges;
}

std::vector<Edge> read_edge_list(const std::filesystem::path& path, std::size_t clients) {
  return parse_edge_list(read_text_file(path), clients, path.string());
}

}  // namespace dfrost
