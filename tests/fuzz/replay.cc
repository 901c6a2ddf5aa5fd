// Runs a fuzz target without libFuzzer, in every test run: over the files of a folder (what the fuzzer found
// once is tried again), and over small random changes of them, the same ones every time. Counts what operator
// new hands out: a target that states a bound (fuzz_memory_bound) fails if an input makes it ask for more.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "fuzz/counted_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// The most bytes that may be held at once for an input of this size; defined by targets that promise one.
__attribute__((weak)) std::size_t fuzz_memory_bound(std::size_t input_bytes);

namespace {

// One input; false if it took more memory than the target promises.
bool run_within_bound(const std::string& bytes, const std::string& name) {
  const std::size_t before = dfrost::test::held_bytes();
  dfrost::test::reset_most_held();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (fuzz_memory_bound == nullptr) return true;
  const std::size_t used = dfrost::test::most_held_bytes() - before;
  if (used <= fuzz_memory_bound(bytes.size())) return true;
  std::printf("%s: %zu bytes of input took %zu bytes of memory, more than %zu\n", name.c_str(), bytes.size(),
              used, fuzz_memory_bound(bytes.size()));
  return false;
}

// A few bytes changed, a piece cut out or doubled: what a damaged or hostile file looks like.
std::string changed(std::string bytes, dfrost::RandomStream& stream) {
  const auto place = [&] { return static_cast<std::size_t>(stream.below(bytes.size())); };
  for (std::uint64_t i = 0, changes = 1 + stream.below(8); i < changes && !bytes.empty(); ++i) {
    switch (stream.below(5)) {
      case 0: bytes[place()] = static_cast<char>(stream.below(256)); break;
      case 1: bytes[place()] ^= static_cast<char>(1u << stream.below(8)); break;
      case 2: bytes[place()] = stream.below(2) == 0 ? '\0' : '\xff'; break;
      case 3: bytes.resize(place()); break;
      default: {
        const std::size_t from = place();
        const std::string piece = bytes.substr(from, stream.below(64));
        bytes.insert(place(), piece);
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER CHANGES_PER_FILE\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  bool bounded = true;
  std::size_t runs = 0;
  for (const auto& file : files) {
    const std::string bytes = dfrost::read_text_file(file);
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // so that a crash leaves the name of its file
    bounded = run_within_bound(bytes, file.filename()) && bounded;
    dfrost::RandomStream stream(1, "fuzz " + file.filename().string());
    for (int i = 0; i < std::atoi(argv[2]); ++i, ++runs) {
      bounded = run_within_bound(changed(bytes, stream), file.filename().string() + ", changed") && bounded;
    }
  }
  std::printf("%zu inputs replayed, %zu changed ones run\n", files.size(), runs);
  return bounded && !files.empty() ? 0 : 1;  // an empty folder proves nothing
}
