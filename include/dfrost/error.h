// The one exception type of dfrost: what went wrong, where, and what the reader can do about it.
// Thrown when an operation cannot go on (bad file, bad option, corrupt message). Outcomes that are part of
// normal work (a late peer, not converged) are values, never errors.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace dfrost {

// Named as gRPC names them, so that a code means the same on the wire and on the command line.
enum class ErrorCode {
  cancelled,
  invalid_argument,   // an option, flag or config value
  deadline_exceeded,  // a peer or a server did not answer in time
  not_found,          // a file or a named thing does not exist
  already_exists,
  permission_denied,
  resource_exhausted,   // disk full, memory limit
  failed_precondition,  // things that are valid alone do not fit together
  out_of_range,
  unimplemented,  // a valid input of a kind that is not supported
  internal,       // a bug in dfrost
  unavailable,    // the network
  data_loss,      // a corrupt, truncated or mistyped file or message
};

std::string_view to_string(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}

  // Says where it happened: "model.safetensors, byte 812" or "train.optimizer". The innermost place wins, so
  // callers may add theirs to any error that passes by.
  Error& at(std::string place) & {
    if (place_.empty()) place_ = std::move(place);
    return *this;
  }
  Error&& at(std::string place) && { return std::move(at(std::move(place))); }

  ErrorCode code() const { return code_; }
  const std::string& hint() const { return hint_; }
  const std::string& place() const { return place_; }

 private:
  ErrorCode code_;
  std::string hint_;
  std::string place_;
};

}  // namespace dfrost
