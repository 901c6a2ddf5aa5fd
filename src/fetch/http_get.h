// One HTTP GET into a file that may already hold the beginning of the answer. What was asked for over https
// comes over https, whatever it is redirected to.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace dfrost {

struct HttpRequest {
  std::string address;
  std::filesystem::path file;  // appended to; what it holds is not asked for again
  long connect_timeout_seconds = 20;
  long stall_timeout_seconds = 60;
  std::filesystem::path authorities = {};  // whose signatures count; empty: those the system trusts
  // Asked once the headers are in, with the SHA-256 that the host states ("" if none): false stops before the
  // first byte is written.
  std::function<bool(const std::string& stated_sha256)> accept = {};
  std::function<void(std::size_t done_bytes, std::size_t total_bytes)> progress = {};
};

enum class HttpOutcome {
  complete,
  cut,       // the connection broke; what came is in the file
  refused,   // an HTTP status that is no success, or the address cannot be reached
  declined,  // accept() said no
};

struct HttpResult {
  HttpOutcome outcome = HttpOutcome::refused;
  std::string reason = {};  // for people, when not complete
  // What the host that was asked says the content's SHA-256 is; not what one says that it redirects to.
  std::string stated_sha256 = {};
};

// Throws Error (resource_exhausted …) if the file cannot be written.
HttpResult http_get(const HttpRequest& request);

}  // namespace dfrost
