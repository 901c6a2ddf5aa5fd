#include "partition/partition_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::string_view kHeader = "picture,client";
constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

struct Line {
  std::string_view text;
  std::size_t number = 0;
  std::size_t offset = 0;
};

Error bad_line(const std::string& place, const Line& line, const std::string& what) {
  return Error(ErrorCode::data_loss, fmt::format("{}, line {}: {}", place, line.number, what),
               "each line is 'picture,client', both counted from 0")
      .at(fmt::format("{}, byte {}", place, line.offset));
}

// Two numbers with a comma between them, and nothing else.
void parse_line(const Line& line, const std::string& place, std::size_t& picture, std::size_t& client) {
  const char* end = line.text.data() + line.text.size();
  const auto first = std::from_chars(line.text.data(), end, picture);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',')
    throw bad_line(place, line, "is not two numbers");
  const auto second = std::from_chars(first.ptr + 1, end, client);
  if (second.ec != std::errc() || second.ptr != end) throw bad_line(place, line, "is not two numbers");
}

}  // namespace

Partition parse_partition(std::string_view text, const std::string& place, std::size_t pictures,
                          std::size_t min_per_client) {
  std::vector<std::size_t> holder(pictures, kNobody);
  std::size_t clients = 0;
  Line line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    line = {text.substr(at, end - at), line.number + 1, at};
    at = end + 1;
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    if (line.text.empty() || (line.number == 1 && line.text == kHeader)) continue;
    std::size_t picture = 0;
    std::size_t client = 0;
    parse_line(line, place, picture, client);
    if (picture >= pictures) {
      throw bad_line(place, line,
                     fmt::format("there is no picture {}: they go from 0 to {}", picture, pictures - 1));
    }
    // More clients than pictures would leave some with nothing.
    if (client >= pictures)
      throw bad_line(place, line, fmt::format("client {} of {} pictures", client, pictures));
    if (holder[picture] != kNobody)
      throw bad_line(place, line, fmt::format("picture {} is named twice", picture));
    holder[picture] = client;
    clients = std::max(clients, client + 1);
  }
  Partition partition{std::vector<std::vector<std::size_t>>(clients)};
  for (std::size_t i = 0; i < pictures; ++i) {
    if (holder[i] == kNobody) {
      throw Error(ErrorCode::data_loss, fmt::format("{}: picture {} is given to nobody", place, i)).at(place);
    }
    partition.clients[holder[i]].push_back(i);
  }
  for (std::size_t u = 0; u < clients; ++u) {
    if (partition.clients[u].size() < std::max<std::size_t>(1, min_per_client)) {
      throw Error(ErrorCode::failed_precondition,
                  fmt::format("{} gives client {} only {} pictures; at least {} are wanted", place, u,
                              partition.clients[u].size(), std::max<std::size_t>(1, min_per_client)),
                  "give it more, or lower partition.min_per_client")
          .at("partition.min_per_client");
    }
  }
  return partition;
}

Partition read_partition(const std::filesystem::path& path, std::size_t pictures,
                         std::size_t min_per_client) {
  return parse_partition(read_text_file(path), path.string(), pictures, min_per_client);
}

void write_partition(const std::filesystem::path& path, const Partition& partition) {
  std::vector<std::pair<std::size_t, std::size_t>> rows;
  for (std::size_t u = 0; u < partition.clients.size(); ++u) {
    for (const std::size_t picture : partition.clients[u]) rows.emplace_back(picture, u);
  }
  std::sort(rows.begin(), rows.end());
  std::string text = fmt::format("{}\n", kHeader);
  for (const auto& [picture, client] : rows)
    fmt::format_to(std::back_inserter(text), "{},{}\n", picture, client);
  write_file_atomically(path, text);
}

}  // namespace dfrost
