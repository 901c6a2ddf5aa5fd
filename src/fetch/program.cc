#include "fetch/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kKeptOutput = 64u << 10;
constexpr int kExitCannotStart = 127;

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error(ErrorCode::internal, fmt::format("cannot run {}: {}", program, std::strerror(error)));
}

// Everything the child writes until it closes its end; only the end of it is kept.
std::string read_all(int pipe) {
  std::string output;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return output;
    output.append(buffer.data(), static_cast<std::size_t>(got));
    if (output.size() > 2 * kKeptOutput) output.erase(0, output.size() - kKeptOutput);
  }
}

// In the child: only calls that are safe between fork and exec.
[[noreturn]] void become(char* const* argv, const char* folder, int output) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (::chdir(folder) == 0) ::execvp(argv[0], argv);
  ::_exit(kExitCannotStart);
}

}  // namespace

bool has_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

ProgramResult run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  const std::string& program = arguments.at(0);
  if (!has_program(program)) {
    throw Error(ErrorCode::not_found, fmt::format("the program {} is not installed", program));
  }
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(program, errno);
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    fail(program, error);
  }
  if (child == 0) become(argv.data(), folder.c_str(), ends[1]);
  ::close(ends[1]);
  ProgramResult result;
  result.output = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace dfrost
