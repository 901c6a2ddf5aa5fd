// Small experiments end with the bytes that they ended with before (results.txt): whoever changes how a round
// is written sees here that no method computes anything else. Last bits depend on which kernels a CPU gets,
// so the program starts itself again on those that every x86-64 CPU has: oneDNN, Highway and the C library's
// mathematics are each held to them, and what is left is IEEE arithmetic in an order that the source decides.
#include <gtest/gtest.h>
#include <unistd.h>

#include <hwy/targets.h>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/safetensors.h"
#include "config/toml_file.h"
#include "fetch/digest.h"
#include "run/small_experiment.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBase = R"(
run = {name = "small", seed = 3, rounds = 3, threads = 2}
backbone = {path = "model.safetensors", precision = "fp32"}
data.domains = [{name = "warm", path = "warm", format = "records"}, {name = "cold", path = "cold", format = "records"}]
data.train_per_domain = 40
data.test_per_domain = 20
partition = {kind = "iid", clients_per_domain = 2, min_per_client = 1}
network.topology = "ring"
train = {learning_rate = 1e-2, batch = 4}
prompts.count = 3
evaluate.every = 0
)";

struct Case {
  std::string hash;
  std::vector<std::string> overrides;
  std::string line;  // the overrides again, as they stand in the list
};

std::vector<Case> listed_cases() {
  std::vector<Case> cases;
  std::istringstream list(read_text_file(fs::path(DFROST_SOURCE_DIR) / "tests/run/results.txt"));
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line.front() == '#') continue;
    Case& added = cases.emplace_back();
    std::istringstream words(line);
    words >> added.hash;
    added.overrides.assign(std::istream_iterator<std::string>(words), {});
    added.line = line.substr(std::min(line.size(), added.hash.size() + 1));
  }
  return cases;
}

// Names, shapes and values of all tensors of a folder's adapters, in the order of their names: not their
// cards, which say more than what was computed.
std::string hash_of_adapters(const fs::path& folder) {
  const test::TemporaryFolder temporary;
  {
    std::ofstream all(temporary / "all", std::ios::binary);
    std::set<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".safetensors") files.insert(entry.path());
    for (const auto& path : files) {
      const SafetensorsFile file(path);
      all << path.filename().string() << '\n';
      for (const auto& [name, tensor] : file.content().tensors) {
        all << name << ' ' << to_string(tensor.shape) << '\n';
        const auto values = read_floats(tensor, name);
        const auto bytes = std::as_bytes(std::span(values));
        all.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      }
    }
  }
  return file_digest(temporary / "all", DigestKind::sha256);
}

TEST(Results, AreThoseOfEarlierVersionsByteForByte) {
  const test::SmallExperiment files;
  const auto cases = listed_cases();
  ASSERT_GE(cases.size(), 24u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto config = parse_config(kBase, "results", files.folder.path(), cases[i].overrides);
    const fs::path folder = files.folder / ("runs/" + std::to_string(i));
    test::StoppingObserver observer;
    run_experiment(config, {.folder = folder}, observer);
    EXPECT_EQ(hash_of_adapters(folder / "adapter"), cases[i].hash) << cases[i].line;
  }
}

TEST(Results, OfDifferentExperimentsDiffer) {
  std::set<std::string> hashes;
  for (const auto& one : listed_cases()) EXPECT_TRUE(hashes.insert(one.hash).second) << one.line;
}

// What every x86-64 CPU has. The C library chooses its mathematics when a program starts.
void hold_to_common_instructions(char** arguments) {
  constexpr const char* kMathematics = "GLIBC_TUNABLES";
  constexpr const char* kHeld = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F";
  const char* now = std::getenv(kMathematics);
  if (now == nullptr || std::string_view(now) != kHeld) {
    setenv(kMathematics, kHeld, 1);
    setenv("ONEDNN_MAX_CPU_ISA", "SSE41", 1);
    execv("/proc/self/exe", arguments);
    std::perror("results_test");
    std::exit(1);
  }
  hwy::SetSupportedTargetsForTest(HWY_STATIC_TARGET);
}

}  // namespace
}  // namespace dfrost

int main(int count, char** arguments) {
  dfrost::hold_to_common_instructions(arguments);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
