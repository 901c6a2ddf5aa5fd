// Progress of a download on stderr: a bar that redraws itself on a terminal, plain lines every tenth
// otherwise.
#pragma once

#include <cstdio>
#include <string>

#include "fetch/download.h"

namespace dfrost::cli {

class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* to, bool terminal) : to_(to), terminal_(terminal) {}
  ProgressBar();  // stderr, a bar if it is a terminal

  void show(const DownloadProgress& progress);
  void finish();  // ends the line of a bar

 private:
  void draw(const std::string& text) const;

  std::FILE* to_;
  bool terminal_;
  std::string name_;
  std::size_t last_step_ = 0;
  bool drawn_ = false;
};

// "1.5 MB"
std::string format_bytes(std::size_t bytes);

}  // namespace dfrost::cli
