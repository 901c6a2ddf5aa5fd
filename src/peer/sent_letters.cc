#include "peer/sent_letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// "round-000012.letters", oldest first.
std::map<std::uint64_t, fs::path> files_in(const fs::path& folder) {
  std::map<std::uint64_t, fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t round = 0;
    if (std::sscanf(name.c_str(), "round-%" SCNu64 ".letters", &round) == 1 && name.ends_with(".letters"))
      files.emplace(round, entry.path());
  }
  return files;
}

void send_file(const fs::path& path, std::uint64_t round, Exchange& exchange) {
  const std::string text = read_text_file(path, std::size_t{1} << 31);
  const auto line = text.find('\n');
  if (line == std::string::npos) return;
  const auto list = parse_own_json(std::string_view(text).substr(0, line));
  if (list.is_discarded()) return;
  std::size_t at = line + 1;
  for (const auto& one : list) {
    const auto size = one.at("bytes").get<std::size_t>();
    if (size > text.size() - at) return;
    std::vector<std::byte> bytes(size);
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()) + at, size, bytes.begin());
    at += size;
    const auto letter = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    exchange.begin({round, one.at("phase").get<std::uint32_t>()});
    for (const auto& peer : one.at("to")) exchange.send(peer.get<ClientId>(), letter);
  }
}

}  // namespace

void SentLetters::save(const fs::path& folder, std::uint64_t round, std::uint64_t kept) const {
  nlohmann::json list = nlohmann::json::array();
  std::string bytes;
  const std::vector<std::byte>* last = nullptr;
  for (const auto& sent : letters_) {
    if (sent.moment.round != round) continue;
    if (sent.letter.get() == last) {  // the same to several
      list.back()["to"].push_back(sent.peer);
      continue;
    }
    last = sent.letter.get();
    list.push_back({{"phase", sent.moment.phase}, {"to", {sent.peer}}, {"bytes", last->size()}});
    bytes.append(reinterpret_cast<const char*>(last->data()), last->size());
  }
  fs::create_directories(folder);
  write_file_atomically(folder / fmt::format("round-{:06}.letters", round), list.dump() + "\n" + bytes);
  auto files = files_in(folder);
  std::error_code ignored;
  for (const auto& [old, path] : files)
    if ((old > 0 && old + kept <= round) || old > round) fs::remove(path, ignored);
}

void note_speaking(const fs::path& folder, std::uint64_t round) {
  fs::create_directories(folder);
  write_file_atomically(folder / "spoken", std::to_string(round) + "\n");
}

std::uint64_t last_spoken_round(const fs::path& folder) {
  if (!fs::exists(folder / "spoken")) return 0;
  return std::strtoull(read_text_file(folder / "spoken", 64).c_str(), nullptr, 10);
}

std::uint64_t first_kept_round(const fs::path& folder, std::uint64_t done) {
  const auto files = files_in(folder);
  return files.empty() ? done + 1 : std::min(files.begin()->first, done + 1);
}

void send_again(const fs::path& folder, std::uint64_t done, Exchange& exchange) {
  for (const auto& [round, path] : files_in(folder)) {
    if (round > done) continue;
    try {
      send_file(path, round, exchange);
    } catch (const nlohmann::json::exception&) {
    } catch (const Error&) {
    }
  }
}

}  // namespace dfrost
