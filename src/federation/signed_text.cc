#include "federation/signed_text.h"

#include <fmt/format.h>

#include <span>

#include "base/json.h"
#include "base/quote.h"
#include "dfrost/error.h"
#include "federation/hex.h"

namespace dfrost {
namespace {

constexpr std::string_view kFormat = "1";
constexpr std::string_view kBeforeKey = "\n[signature]\nkey = \"";
constexpr std::string_view kBeforeValue = "\"\nvalue = \"";
constexpr std::string_view kEnd = "\"\n";

std::string_view word(SignedKind kind) { return kind == SignedKind::member ? "member" : "federation"; }

std::string opening(SignedKind kind) { return fmt::format("# dfrost {} ", word(kind)); }

[[noreturn]] void refuse(const std::string& message, std::string hint = {}) {
  throw Error(ErrorCode::data_loss, message, std::move(hint));
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Checks the first line and returns where the body starts.
std::size_t body_start(SignedKind kind, std::string_view text) {
  const std::string start = opening(kind);
  const auto line_end = text.substr(0, 64).find('\n');
  if (!text.starts_with(start) || line_end == std::string_view::npos) {
    const auto other = kind == SignedKind::member ? SignedKind::federation : SignedKind::member;
    if (text.starts_with(opening(other)))
      refuse(fmt::format("this is a {} file, not a {} file", word(other), word(kind)));
    refuse(fmt::format("not a {} file of dfrost", word(kind)),
           fmt::format("its first line is '{}{}'", start, kFormat));
  }
  const std::string_view format = text.substr(start.size(), line_end - start.size());
  if (format != kFormat) {
    throw Error(ErrorCode::unimplemented,
                fmt::format("a {} file of format {}; this dfrost reads format {}", word(kind),
                            quote_name(format), kFormat),
                "take the version of dfrost that wrote it, or a later one");
  }
  return line_end + 1;
}

struct Pieces {
  std::string_view body, key, value, signed_part;
};

Pieces take_apart(SignedKind kind, std::string_view text) {
  // Some mail programs do that to texts.
  if (text.starts_with(opening(kind)) && text.find('\r') != std::string_view::npos)
    refuse("the ends of its lines were changed on the way", "send it again as an attachment, or in a .zip");
  const std::size_t body = body_start(kind, text);
  const auto key = text.rfind(kBeforeKey);
  const auto value = text.rfind(kBeforeValue);
  if (key == std::string_view::npos || key < body || value == std::string_view::npos ||
      value < key + kBeforeKey.size() || !text.ends_with(kEnd) ||
      text.size() < value + kBeforeValue.size() + kEnd.size()) {
    refuse("its end, with the signature, is missing or damaged", "have it sent again");
  }
  const auto key_start = key + kBeforeKey.size(), value_start = value + kBeforeValue.size();
  return {text.substr(body, key - body), text.substr(key_start, value - key_start),
          text.substr(value_start, text.size() - kEnd.size() - value_start),
          text.substr(0, value + kBeforeValue.size())};
}

}  // namespace

std::string text_to_sign(SignedKind kind, std::string_view body, std::span<const std::byte> signer) {
  return fmt::format("{}{}\n{}{}{}{}", opening(kind), kFormat, body, kBeforeKey, to_hex(signer),
                     kBeforeValue);
}

std::string hash_of_text(std::string_view text) { return to_string(fingerprint_of(bytes_of(text))); }

std::string sign_text(SignedKind kind, std::string_view body, const PrivateKey& key) {
  const std::string text = text_to_sign(kind, body, key.public_key());
  return fmt::format("{}{}{}", text, to_hex(key.sign(bytes_of(text))), kEnd);
}

SignedText open_signed_text(SignedKind kind, std::string_view text) {
  const Pieces pieces = take_apart(kind, text);
  constexpr std::size_t kLongestDigits = 1024;  // far more than any key or signature that is read
  const auto key = from_hex(pieces.key.substr(0, kLongestDigits + 1));
  const auto value = from_hex(pieces.value.substr(0, kLongestDigits + 1));
  const bool fits = key && value && key->size() <= kLongestDigits / 2 &&
                    value->size() <= kLongestDigits / 2 &&
                    signature_fits(*key, bytes_of(pieces.signed_part), *value);
  if (!fits)
    refuse("its signature does not fit: it was changed after it was signed",
           "have it sent again; never edit such a file by hand");
  if (!is_utf8(pieces.body)) refuse("it is not UTF-8");
  return {std::string(pieces.body), *key, hash_of_text(pieces.signed_part)};
}

}  // namespace dfrost
