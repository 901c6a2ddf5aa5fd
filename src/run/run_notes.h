// Who is told, in words, what was decided on the way; what watches a run or a peer is one of these.
#pragma once

#include <string>

namespace dfrost {

class RunNotes {
 public:
  virtual ~RunNotes() = default;
  virtual void on_note(const std::string& text) = 0;  // for people: what was decided or skipped
  virtual void on_warning(const std::string& what, const std::string& hint) = 0;  // what may be wrong
};

}  // namespace dfrost
