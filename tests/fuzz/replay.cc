// Runs a fuzz target over the files of a folder: what the fuzzer found once is tried again in every test run.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  int replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    const std::string bytes = dfrost::read_text_file(entry.path());
    std::printf("%s\n", entry.path().filename().c_str());
    std::fflush(stdout);  // so that a crash leaves the name of its file
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++replayed;
  }
  std::printf("%d inputs replayed\n", replayed);
  return replayed == 0 ? 1 : 0;  // an empty folder proves nothing
}
