// The federation file: one signed text, made to be mailed around, that says who learns together and what: the
// experiment with every key, without paths of the founder's machine, the frozen model's fingerprint, the
// classes in the order of their labels, and the members with the rounds in which they take part. A later
// revision is signed by the same key and carries the hashes of all before it, so that a site can tell that it
// follows the one that it joined, however many it missed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "federation/member_file.h"
#include "network/tls/identity.h"
#include "network/tls/wire.h"

namespace dfrost {

inline constexpr std::size_t kMostInFederation = 4096;

struct Member {
  ClientId number = 0;
  std::string name = {};
  std::string address = {};  // "host:port"; empty: it dials the others
  std::vector<std::byte> public_key = {};
  std::uint64_t from_round = 1;
  std::uint64_t until_round = 0;  // the first without it; 0: to the end

  KeyFingerprint key() const { return fingerprint_of(public_key); }
  bool takes_part_in(std::uint64_t round) const {
    return round >= from_round && (until_round == 0 || round < until_round);
  }
};

struct Federation {
  std::string name;
  std::string software;              // the dfrost that wrote it
  std::string experiment;            // TOML, every key; run, and named files of the founder's left out
  std::string backbone_fingerprint;  // weights_fingerprint(): 16 hexadecimal digits
  std::vector<std::string> classes;  // "domain/class", in the order of the labels
  std::vector<Member> members;       // member i has the number i; who leaves stays listed
  std::size_t quorum = 0;            // members that must be linked before round 1; 0: all
  std::uint64_t revision = 1;
  std::vector<std::string> history;    // hashes of the revisions before, the first one's first
  std::vector<std::byte> founder_key;  // public, DER
  std::string text_hash = {};          // of the file that it was read from; empty: of what would be written

  std::string hash() const;  // SHA-256 of all that is signed, 64 hexadecimal digits
  FederationId id() const;   // the hash of the first revision
  // The hash's first 80 bits, to be read out on the phone: "7F3A-91C2-…". Another one for each revision.
  std::string fingerprint() const;

  // The experiment. What it names without a path of its own (pictures of "mine") lies below `data_root`, by
  // default the data folder.
  RunConfig config(const std::filesystem::path& data_root = {}) const;

  // One more than the highest number that has taken part by then.
  std::size_t nodes_in(std::uint64_t round) const;
  std::vector<bool> present_in(std::uint64_t round) const;  // [nodes_in(round)]
  const Member* find(const KeyFingerprint& key) const;      // null where there is none
  const Member* find(std::string_view name) const;
};

// That all of it fits together: names, keys and addresses given once, an experiment that is valid and carries
// no path, as many members as it has clients. Throws (failed_precondition, invalid_argument) with the reason.
void check_federation(const Federation& federation);

// Every pair that takes part in a round together needs at least one address. Throws (failed_precondition)
// with the first pair that has none.
void check_reachable(const Federation& federation);

// The first 80 bits of hexadecimal digits, in groups: "7F3A-91C2-…".
std::string read_out(std::string_view digits);

// What stands between the first line and the signature, and back. The body of a stranger is bounded in all.
std::string federation_body(const Federation& federation);
Federation parse_federation_body(std::string_view body, std::vector<std::byte> signer);

std::string federation_text(const Federation& federation, const PrivateKey& founder);
// The signature first, then form and limits, then check_federation().
Federation parse_federation(std::string_view text);

std::string read_federation_text(const std::filesystem::path& path);
// As parse_federation(), with the file's name in its errors.
Federation parse_federation_at(std::string_view text, const std::string& place);
Federation load_federation(const std::filesystem::path& path);
void save_federation(const std::filesystem::path& path, const Federation& federation,
                     const PrivateKey& founder);

}  // namespace dfrost
