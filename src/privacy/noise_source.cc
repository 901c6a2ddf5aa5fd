#include "privacy/noise_source.h"

#include <sys/random.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "dfrost/error.h"
#include "privacy/privacy_options.h"

namespace dfrost {
namespace {

constexpr std::size_t kWordsAtOnce = 512;

std::vector<std::uint64_t> words_of_the_system() {
  std::vector<std::uint64_t> words(kWordsAtOnce);
  auto* bytes = reinterpret_cast<char*>(words.data());
  std::size_t missing = words.size() * sizeof words.front();
  while (missing > 0) {
    const auto got = getrandom(bytes, missing, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ErrorCode::internal,
                  std::string("the system gives no random numbers: ") + std::strerror(errno));
    bytes += got;
    missing -= static_cast<std::size_t>(got);
  }
  return words;
}

}  // namespace

std::string_view to_string(PrivacyKind kind) {
  switch (kind) {
    case PrivacyKind::none: return "none";
    case PrivacyKind::examples: return "examples";
    case PrivacyKind::client: return "client";
  }
  return "unknown";
}

NoiseSource::NoiseSource(NoiseOrigin origin, Seed seed, std::string_view purpose, std::uint64_t client,
                         std::uint64_t round) {
  if (origin == NoiseOrigin::seed) stream_.emplace(seed, purpose, client, round);
}

std::uint64_t NoiseSource::next() {
  if (stream_) return stream_->next();
  if (drawn_.empty()) drawn_ = words_of_the_system();
  const std::uint64_t word = drawn_.back();
  drawn_.back() = 0;  // what was used is not left lying about
  drawn_.pop_back();
  return word;
}

double NoiseSource::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double NoiseSource::normal() {
  if (spare_) return *std::exchange(spare_, std::nullopt);
  const double length = std::sqrt(-2 * std::log(1 - uniform()));  // Box and Muller
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = length * std::sin(angle);
  return length * std::cos(angle);
}

}  // namespace dfrost
