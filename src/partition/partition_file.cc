#include "partition/partition_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/file.h"
#include "base/quote.h"
#include "data/csv_reader.h"
#include "dfrost/error.h"
#include "partition/picture_names.h"

namespace dfrost {
namespace {

constexpr std::string_view kHint =
    "each line is 'picture,client': a file as in its folder or list, or a number from 0; a number from 0, or "
    "a name";
constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
using Meaning = PictureNames::Meaning;

// The clients in the order in which they come, and where each came first.
class ClientList {
 public:
  std::size_t number_of(const std::string& name, CsvPosition where) {
    const auto [at, is_new] = numbers_.try_emplace(name, names_.size());
    if (is_new) {
      names_.push_back(name);
      first_lines_.push_back(where);
    }
    return at->second;
  }

  // Where all are numbers, the clients are those, and none has a name.
  void settle(std::size_t pictures, const CsvReader& reader) {
    if (!std::ranges::all_of(names_, [](const auto& name) { return whole_number(name).has_value(); })) return;
    for (std::size_t u = 0; u < names_.size(); ++u) {
      const auto number = *whole_number(names_[u]);
      if (number < 0 || static_cast<std::size_t>(number) >= pictures) {
        throw reader.error_at(first_lines_[u],
                              fmt::format("there cannot be a client {}: the {} training pictures are enough "
                                          "for clients 0 to {}",
                                          quote_name(names_[u]), pictures, pictures - 1));
      }
      meant_.push_back(static_cast<std::size_t>(number));
    }
    names_.clear();
  }

  std::size_t settled(std::size_t number) const { return meant_.empty() ? number : meant_[number]; }
  std::vector<std::string> names() && { return std::move(names_); }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
  std::vector<CsvPosition> first_lines_;
  std::vector<std::size_t> meant_;
};

Error unknown_picture(const CsvReader& reader, const PictureNames& names, const std::string& text,
                      Meaning meaning) {
  if (meaning == Meaning::several) {
    return reader.error_at(reader.position(), fmt::format("several pictures are called {}", quote_name(text)),
                           "put the domain's name in front, as in DOMAIN:PICTURE; a picture that a list "
                           "names twice needs its number");
  }
  return reader.error_at(reader.position(), fmt::format("there is no picture {}", quote_name(text)),
                         names.hint_for(text));
}

// A misspelt file is none.
bool could_be_header(const std::string& picture) {
  return !whole_number(picture) && picture.find_first_of("./") == std::string::npos;
}

// Who holds each training picture, by the number of the client in `clients`.
std::vector<std::size_t> read_holders(CsvReader& reader, const PictureNames& names, std::size_t pictures,
                                      ClientList& clients) {
  std::vector<std::size_t> holder(pictures, kNobody);
  std::vector<std::string> fields;
  for (bool first = true; reader.next(fields); first = false) {
    if (fields.size() != 2 || fields[0].empty() || fields[1].empty())
      throw reader.error("is not a picture and a client");
    const auto [meaning, picture] = names.find(fields[0]);
    const bool is_known = meaning == Meaning::training || meaning == Meaning::testing;
    if (!is_known && first && could_be_header(fields[0])) continue;
    if (!is_known) throw unknown_picture(reader, names, fields[0], meaning);
    if (meaning == Meaning::testing) continue;
    if (holder[picture] != kNobody)
      throw reader.error(fmt::format("picture {} is named twice", quote_name(fields[0])));
    holder[picture] = clients.number_of(fields[1], reader.position());
  }
  return holder;
}

void require_holders(const std::vector<std::size_t>& holder, const PictureNames& names,
                     const std::string& place) {
  const auto missing = std::ranges::find(holder, kNobody);
  if (missing == holder.end()) return;
  const auto others = std::ranges::count(holder, kNobody) - 1;
  throw Error(
      ErrorCode::data_loss,
      fmt::format("{}: picture {} is given to nobody{}", place,
                  quote_name(names.text_of(static_cast<std::size_t>(missing - holder.begin()))),
                  others == 0 ? "" : fmt::format(", and {} others", others)),
      "give each a line; 'dfrost partition show' lists them all, with --set partition.kind=iid --save -")
      .at(place);
}

void require_enough(const Partition& partition, std::size_t wanted, const std::string& place) {
  for (std::size_t u = 0; u < partition.clients.size(); ++u) {
    const std::size_t count = partition.clients[u].size();
    if (count >= wanted) continue;
    throw Error(ErrorCode::failed_precondition,
                fmt::format("{} gives client {} only {} pictures; at least {} are wanted", place,
                            partition.names.empty() ? std::to_string(u) : quote_name(partition.names[u]),
                            count, wanted),
                count == 0 ? "clients are counted from 0, without gaps"
                           : "give it more, or lower partition.min_per_client")
        .at("partition.min_per_client");
  }
}

}  // namespace

Partition parse_partition(std::string_view text, const std::string& place, const Corpus& corpus,
                          std::size_t min_per_client) {
  const PictureNames names(corpus);
  CsvReader reader(text, place, kHint);
  ClientList clients;
  const auto holder = read_holders(reader, names, corpus.train.size(), clients);
  clients.settle(corpus.train.size(), reader);
  require_holders(holder, names, place);
  Partition partition;
  for (std::size_t i = 0; i < holder.size(); ++i) {
    const std::size_t client = clients.settled(holder[i]);
    partition.clients.resize(std::max(partition.clients.size(), client + 1));
    partition.clients[client].push_back(i);
  }
  partition.names = std::move(clients).names();
  require_enough(partition, std::max<std::size_t>(1, min_per_client), place);
  return partition;
}

Partition read_partition(const std::filesystem::path& path, const Corpus& corpus,
                         std::size_t min_per_client) {
  return parse_partition(read_text_file(path), path.string(), corpus, min_per_client);
}

std::string partition_text(const Partition& partition, const Corpus& corpus) {
  std::vector<std::pair<std::size_t, std::size_t>> rows;
  for (std::size_t u = 0; u < partition.clients.size(); ++u) {
    for (const std::size_t picture : partition.clients[u]) rows.emplace_back(picture, u);
  }
  // Names are numbered as they come, so they come as they are numbered.
  if (partition.names.empty()) std::sort(rows.begin(), rows.end());
  const PictureNames names(corpus);
  std::string text = "picture,client\n";
  for (const auto& [picture, client] : rows) {
    fmt::format_to(std::back_inserter(text), "{},{}\n", csv_field(names.text_of(picture)),
                   partition.names.empty() ? std::to_string(client) : csv_field(partition.names[client]));
  }
  return text;
}

}  // namespace dfrost
