#include "support/support.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace dfrost::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "dfrost-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

void run_python(const std::string& script, const std::string& arguments) {
  const auto result =
      run_command(fmt::format("'{}' '{}/tests/{}' {}", DFROST_PYTHON, DFROST_SOURCE_DIR, script, arguments));
  ASSERT_EQ(result.exit_code, 0) << script << " " << arguments << "\n" << result.output;
}

std::filesystem::path shared_data() {
  if (const char* named = std::getenv("DFROST_SHARED_DATA"); named != nullptr) return named;
  const auto beside = std::filesystem::path(DFROST_SOURCE_DIR).parent_path() / "shared" / "data";
  return std::filesystem::exists(beside) ? beside : std::filesystem::path();
}

}  // namespace dfrost::test
