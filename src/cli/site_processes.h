// Sites as processes of their own: this executable once more, with `peer start`. Whatever ends the command
// ends them too.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace dfrost::cli {

class SiteProcesses {
 public:
  SiteProcesses() = default;
  ~SiteProcesses();  // asks those that run to end, and waits
  SiteProcesses(const SiteProcesses&) = delete;
  SiteProcesses& operator=(const SiteProcesses&) = delete;

  // What it tells goes to SITE/log.jsonl.
  void start(std::size_t number, const std::filesystem::path& site);
  void kill(std::size_t number);  // at once, as a power cut would
  void ask_to_end();              // all

  bool is_running(std::size_t number);
  bool any_running();
  // Of one that has ended by itself; 128 + the signal of one that was killed.
  std::optional<int> exit_code(std::size_t number) const;

 private:
  struct Process {
    pid_t pid = 0;  // 0: none runs
    std::optional<int> code;
  };
  void look(Process& process, bool wait);

  std::vector<Process> processes_;
};

}  // namespace dfrost::cli
