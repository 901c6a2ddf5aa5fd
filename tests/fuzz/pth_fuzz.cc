// Any bytes give tensors that lie within them, or an Error. Bytes that do not begin as a zip archive are
// taken for a pickle and put into one, so that the fuzzer need not keep an archive in repair to change what
// is in it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backbone/pth.h"
#include "fuzz/use_tensors.h"

namespace {

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

// A zip archive of stored files; what the reader does not look at is zero.
std::string zip(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string archive, directory;
  for (const auto& [name, content] : files) {
    const auto offset = static_cast<std::uint32_t>(archive.size());
    const auto name_bytes = static_cast<std::uint32_t>(name.size());
    const auto content_bytes = static_cast<std::uint32_t>(content.size());
    archive += std::string("PK\3\4") + std::string(22, '\0');
    put(archive, name_bytes, 2);
    put(archive, 0, 2);
    archive += name + content;
    directory += std::string("PK\1\2") + std::string(16, '\0');
    put(directory, content_bytes, 4);
    put(directory, content_bytes, 4);
    put(directory, name_bytes, 2);
    directory += std::string(12, '\0');
    put(directory, offset, 4);
    directory += name;
  }
  const auto start = static_cast<std::uint32_t>(archive.size());
  archive += directory + std::string("PK\5\6") + std::string(6, '\0');
  put(archive, static_cast<std::uint32_t>(files.size()), 2);
  put(archive, static_cast<std::uint32_t>(directory.size()), 4);
  put(archive, start, 4);
  put(archive, 0, 2);
  return archive;
}

void read(std::string_view archive) {
  try {
    const auto bytes = std::as_bytes(std::span(archive));
    dfrost::fuzz::use_tensors(dfrost::parse_pth(bytes, "fuzz"), bytes.size());
  } catch (const dfrost::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("PK")) {
    read(bytes);
  } else {
    read(zip({{"a/data.pkl", std::string(bytes)}, {"a/data/0", std::string(24, '\1')}}));
  }
  return 0;
}
