#include "federation/federation_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/malformed.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/key.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "federation/hex.h"
#include "federation/names.h"
#include "federation/signed_text.h"
#include "federation/strict_toml.h"

namespace dfrost {
namespace {

constexpr std::size_t kLargestFederationFile = 8u << 20;
constexpr std::size_t kLargestExperiment = 1u << 20;
constexpr std::size_t kMostClasses = 65'536;
constexpr std::size_t kLongestClass = 1024;
constexpr std::size_t kMostRevisions = 10'000;
constexpr std::size_t kLongestKey = 512;  // hexadecimal digits
constexpr std::uint64_t kMostRounds = 1'000'000'000;
constexpr std::size_t kHashDigits = 64;

// To be read as it is, where TOML allows that.
std::string literal_text(const std::string& text) {
  if (text.find("'''") == std::string::npos) return fmt::format("'''\n{}'''", text);
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else {
      escaped += c;
    }
  }
  return '"' + escaped + '"';
}

std::string list_text(std::string_view key, const std::vector<std::string>& texts) {
  std::string text = fmt::format("{} = [\n", key);
  for (const auto& entry : texts) text += fmt::format("  {},\n", toml_text(entry));
  return text + "]\n";
}

std::string member_table(const Member& member) {
  return fmt::format(
      "\n[[member]]\nnumber = {}\nname = {}\naddress = {}\npublic_key = \"{}\"\nfrom_round = {}\n"
      "until_round = {}\n",
      member.number, toml_text(member.name), toml_text(member.address), to_hex(member.public_key),
      member.from_round, member.until_round);
}

Member parse_member_table(const toml::table& table) {
  StrictTable values(table);
  Member member;
  member.number = static_cast<ClientId>(values.number("number", kMostInFederation - 1));
  member.name = values.text("name", kLongestMemberName);
  member.address = values.text("address", 300);
  auto key = from_hex(values.text("public_key", kLongestKey));
  if (!key || key->empty()) malformed(fmt::format("the public key of member {} is damaged", member.number));
  member.public_key = std::move(*key);
  member.from_round = values.number("from_round", kMostRounds);
  member.until_round = values.number("until_round", kMostRounds);
  values.done();
  return member;
}

bool is_hash(std::string_view text) { return text.size() == kHashDigits && from_hex(text).has_value(); }

}  // namespace

std::string Federation::hash() const {
  if (!text_hash.empty()) return text_hash;
  return hash_of_text(text_to_sign(SignedKind::federation, federation_body(*this), founder_key));
}

FederationId Federation::id() const {
  const auto bytes = from_hex(history.empty() ? hash() : history.front());
  FederationId id = {};
  if (bytes && bytes->size() == id.bytes.size()) std::ranges::copy(*bytes, id.bytes.begin());
  return id;
}

std::string Federation::fingerprint() const { return read_out(hash()); }

std::string read_out(std::string_view digits) {
  constexpr std::size_t kGroups = 5, kDigits = 4;  // 80 bits
  std::string text;
  for (std::size_t i = 0; i < std::min(kGroups * kDigits, digits.size()); ++i) {
    if (i != 0 && i % kDigits == 0) text += '-';
    const char c = digits[i];
    text += c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

RunConfig Federation::config(const std::filesystem::path& data_root) const {
  return parse_config(experiment, "the experiment of the federation",
                      data_root.empty() ? default_data_root() : data_root);
}

std::size_t Federation::nodes_in(std::uint64_t round) const {
  std::size_t nodes = 0;
  for (const auto& member : members) {
    if (member.from_round <= round) nodes = std::max<std::size_t>(nodes, std::size_t{member.number} + 1);
  }
  return nodes;
}

std::vector<bool> Federation::present_in(std::uint64_t round) const {
  std::vector<bool> present(nodes_in(round), false);
  for (const auto& member : members) {
    if (member.takes_part_in(round)) present.at(member.number) = true;
  }
  return present;
}

const Member* Federation::find(const KeyFingerprint& key) const {
  const auto found = std::ranges::find(members, key, &Member::key);
  return found == members.end() ? nullptr : &*found;
}

const Member* Federation::find(std::string_view wanted) const {
  const auto found = std::ranges::find(members, wanted, &Member::name);
  return found == members.end() ? nullptr : &*found;
}

std::string federation_body(const Federation& federation) {
  std::string text = fmt::format(
      "# Who learns together, and what: 'dfrost federation show' tells it in words. Mail this file to all\n"
      "# members; each runs 'dfrost peer join' with it, and compares the fingerprint by phone.\n"
      "name = {}\nsoftware = {}\nrevision = {}\nquorum = {}\nbackbone_fingerprint = {}\n",
      toml_text(federation.name), toml_text(federation.software), federation.revision, federation.quorum,
      toml_text(federation.backbone_fingerprint));
  text += list_text("history", federation.history);
  text += list_text("classes", federation.classes);
  text += fmt::format("experiment = {}\n", literal_text(federation.experiment));
  for (const auto& member : federation.members) text += member_table(member);
  return text;
}

Federation parse_federation_body(std::string_view body, std::vector<std::byte> signer) {
  const toml::table table = parse_strict_toml(body);
  StrictTable values(table);
  Federation federation;
  federation.name = values.text("name", kLongestMemberName);
  federation.software = escape_controls(values.text("software", 64));
  federation.revision = values.number("revision", kMostRevisions);
  federation.quorum = values.number("quorum", kMostInFederation);
  federation.backbone_fingerprint = values.text("backbone_fingerprint", 16);
  federation.history = values.texts("history", kMostRevisions, kHashDigits);
  federation.classes = values.texts("classes", kMostClasses, kLongestClass);
  federation.experiment = values.text("experiment", kLargestExperiment);
  for (const auto* member : values.tables("member", kMostInFederation))
    federation.members.push_back(parse_member_table(*member));
  values.done();
  if (federation.revision != federation.history.size() + 1 ||
      !std::ranges::all_of(federation.history, is_hash))
    malformed("its revision and the hashes of those before it do not agree");
  refuse_deep_toml(federation.experiment);
  federation.founder_key = std::move(signer);
  return federation;
}

std::string federation_text(const Federation& federation, const PrivateKey& founder) {
  check_federation(federation);
  if (founder.public_key() != federation.founder_key)
    throw Error(ErrorCode::permission_denied, "this key is not the founder's");
  auto text = sign_text(SignedKind::federation, federation_body(federation), founder);
  if (text.size() > kLargestFederationFile)
    throw Error(ErrorCode::invalid_argument, "too many members and classes for one file");
  return text;
}

Federation parse_federation(std::string_view text) {
  auto opened = open_signed_text(SignedKind::federation, text);
  try {
    auto federation = parse_federation_body(opened.body, std::move(opened.signer));
    federation.text_hash = opened.hash;
    check_federation(federation);
    return federation;
  } catch (const Error& error) {  // whatever is wrong in it, it is the file that is wrong
    auto wrong = Error(error.code() == ErrorCode::unimplemented ? error.code() : ErrorCode::data_loss,
                       escape_controls(error.what()), escape_controls(error.hint()));
    throw error.place().empty() ? wrong : wrong.at(escape_controls(error.place()));
  }
}

std::string read_federation_text(const std::filesystem::path& path) {
  return read_text_file(path, kLargestFederationFile);
}

Federation parse_federation_at(std::string_view text, const std::string& place) {
  try {
    return parse_federation(text);
  } catch (const Error& error) {
    // Both the file and, where known, the key of its experiment.
    throw Error(error.code(), error.what(), error.hint())
        .at(error.place().empty() ? place : fmt::format("{}, {}", place, error.place()));
  }
}

Federation load_federation(const std::filesystem::path& path) {
  return parse_federation_at(read_federation_text(path), path.string());
}

void save_federation(const std::filesystem::path& path, const Federation& federation,
                     const PrivateKey& founder) {
  write_file_atomically(path, federation_text(federation, founder));
}

}  // namespace dfrost
