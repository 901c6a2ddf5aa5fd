#include "cli/site_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "dfrost/error.h"

namespace dfrost::cli {

SiteProcesses::~SiteProcesses() {
  ask_to_end();
  for (auto& process : processes_) look(process, true);
}

void SiteProcesses::start(std::size_t number, const std::filesystem::path& site) {
  if (processes_.size() <= number) processes_.resize(number + 1);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const std::string log = (site / "log.jsonl").string();
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  // Ctrl-C is this command's to hand on, so that it sees them end.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  std::string program = "dfrost", peer = "peer", start = "start", folder = site.string(), how = "--log",
              json = "json";
  const std::array<char*, 7> arguments = {program.data(), peer.data(), start.data(), folder.data(),
                                          how.data(),     json.data(), nullptr};
  const int error = ::posix_spawn(&processes_[number].pid, "/proc/self/exe", &files, &attributes,
                                  arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  processes_[number].code.reset();
  if (error == 0) return;
  processes_[number].pid = 0;
  throw Error(ErrorCode::resource_exhausted,
              fmt::format("a site could not be started: {}", std::strerror(error)))
      .at(site.string());
}

void SiteProcesses::kill(std::size_t number) {
  if (processes_[number].pid == 0) return;
  ::kill(processes_[number].pid, SIGKILL);
  look(processes_[number], true);
}

void SiteProcesses::ask_to_end() {
  for (const auto& process : processes_)
    if (process.pid != 0) ::kill(process.pid, SIGTERM);
}

void SiteProcesses::look(Process& process, bool wait) {
  if (process.pid == 0) return;
  int status = 0;
  if (::waitpid(process.pid, &status, wait ? 0 : WNOHANG) != process.pid) return;
  process.pid = 0;
  process.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool SiteProcesses::is_running(std::size_t number) {
  if (number >= processes_.size()) return false;
  look(processes_[number], false);
  return processes_[number].pid != 0;
}

bool SiteProcesses::any_running() {
  bool any = false;
  for (std::size_t i = 0; i < processes_.size(); ++i) any = is_running(i) || any;
  return any;
}

std::optional<int> SiteProcesses::exit_code(std::size_t number) const {
  return number < processes_.size() ? processes_[number].code : std::nullopt;
}

}  // namespace dfrost::cli
