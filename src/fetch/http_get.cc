#include "fetch/http_get.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/text.h"
#include "dfrost/error.h"
#include "fetch/digest.h"

namespace dfrost {
namespace {

constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

// The file under way: appended to, or begun again when the server cannot continue.
class PartialFile {
 public:
  explicit PartialFile(const std::filesystem::path& path)
      : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644)) {
    if (fd_ < 0) fail(errno);
    struct stat info {};
    if (::fstat(fd_, &info) != 0) fail(errno);
    size_ = static_cast<std::size_t>(info.st_size);
  }
  ~PartialFile() { ::close(fd_); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  std::size_t size() const { return size_; }

  // These are called from C, which nothing may be thrown through: false, with the reason kept for check().
  bool begin_again() {
    if (::ftruncate(fd_, 0) != 0) {
      error_ = errno;
      return false;
    }
    size_ = 0;
    return true;
  }

  bool append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        error_ = errno;
        return false;
      }
      size_ += static_cast<std::size_t>(put);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

  void check() {
    if (error_ == 0 && ::fsync(fd_) != 0 && errno != EINVAL) error_ = errno;
    if (error_ != 0) fail(error_);
  }

 private:
  [[noreturn]] void fail(int error) const {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    throw Error(full ? ErrorCode::resource_exhausted : ErrorCode::permission_denied,
                fmt::format("cannot write {}: {}", path_.string(), std::strerror(error)),
                full ? "make room, or choose another folder with --to" : "choose another folder with --to")
        .at(path_.string());
  }

  std::filesystem::path path_;
  int fd_;
  int error_ = 0;
  std::size_t size_ = 0;
};

struct Transfer {
  const HttpRequest* request = nullptr;
  PartialFile* file = nullptr;
  CURL* handle = nullptr;
  std::string stated_sha256 = {};
  std::size_t resumed_at = 0;
  int answers = 0;  // with those that redirect
  bool body_begun = false;
  bool declined = false;

  long status() const {
    long code = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
};

// Large-file stores say the content's SHA-256 in a header of their own, before they redirect.
std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  const std::string line = lower_case({data, size * count});
  auto& transfer = *static_cast<Transfer*>(user);
  if (line.starts_with("http/")) ++transfer.answers;
  constexpr std::string_view kName = "x-linked-etag:";
  if (line.starts_with(kName) && transfer.answers <= 1) {
    std::string hex;
    for (const char c : line.substr(kName.size())) {
      if (std::isxdigit(static_cast<unsigned char>(c)) != 0) hex += c;
    }
    if (hex.size() == kSha256Digits) transfer.stated_sha256 = hex;
  }
  return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (!transfer.body_begun) {
    transfer.body_begun = true;
    if (transfer.request->accept && !transfer.request->accept(transfer.stated_sha256)) {
      transfer.declined = true;
      return 0;
    }
    // A server that cannot continue sends everything again.
    const bool anew = transfer.resumed_at > 0 && transfer.status() != kPartialContent;
    if (anew && !transfer.file->begin_again()) return 0;
  }
  return transfer.file->append({data, size * count}) ? size * count : 0;
}

int on_progress(void* user, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<Transfer*>(user);
  if (transfer.request->progress && transfer.body_begun) {
    const bool continued = transfer.status() == kPartialContent;
    transfer.request->progress(
        transfer.file->size(),
        total > 0 ? static_cast<std::size_t>(total) + (continued ? transfer.resumed_at : 0) : 0);
  }
  return 0;
}

std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> new_handle() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) throw std::bad_alloc();
  return handle;
}

void configure(CURL* handle, const HttpRequest& request, Transfer& transfer) {
  curl_easy_setopt(handle, CURLOPT_URL, request.address.c_str());
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 8L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  const bool secure = lower_case(request.address).starts_with("https:");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  if (!request.authorities.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, request.authorities.c_str());
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "dfrost");
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, request.connect_timeout_seconds);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, request.stall_timeout_seconds);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
}

}  // namespace

HttpResult http_get(const HttpRequest& request) {
  PartialFile file(request.file);
  const auto handle = new_handle();
  Transfer transfer{.request = &request, .file = &file, .handle = handle.get(), .resumed_at = file.size()};
  configure(handle.get(), request, transfer);
  // A plain Range header instead of CURLOPT_RESUME_FROM: the latter treats a full answer as an error.
  const std::string range = fmt::format("{}-", transfer.resumed_at);
  if (transfer.resumed_at > 0) curl_easy_setopt(handle.get(), CURLOPT_RANGE, range.c_str());
  const CURLcode code = curl_easy_perform(handle.get());
  file.check();
  HttpResult result{.outcome = HttpOutcome::complete, .stated_sha256 = transfer.stated_sha256};
  const bool empty_answer = code == CURLE_OK && !transfer.body_begun;
  if (transfer.declined || (empty_answer && request.accept && !request.accept(transfer.stated_sha256))) {
    result.outcome = HttpOutcome::declined;
  } else if (code == CURLE_HTTP_RETURNED_ERROR && transfer.status() == kRangeNotSatisfiable) {
    // What is there is not a beginning of what the server has: the caller's checksum will tell.
    result.outcome = HttpOutcome::complete;
  } else if (code != CURLE_OK) {
    result.outcome = transfer.body_begun ? HttpOutcome::cut : HttpOutcome::refused;
    result.reason = code == CURLE_HTTP_RETURNED_ERROR ? fmt::format("HTTP status {}", transfer.status())
                                                      : std::string(curl_easy_strerror(code));
  }
  return result;
}

}  // namespace dfrost
