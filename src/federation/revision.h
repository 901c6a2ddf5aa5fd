// How a federation changes: a member more or less from some round on, in a new revision that the same founder
// signs; and how a site tells that a file follows the one it joined.
#pragma once

#include <cstdint>
#include <string_view>

#include "federation/federation_file.h"

namespace dfrost {

// Throws (permission_denied) where the key is not the founder's.
void require_founder(const Federation& federation, const PrivateKey& key);

// The next revision, in which the member takes part from that round on, with the next number. Throws where it
// does not fit; see check_federation() and check_reachable().
Federation with_member(const Federation& federation, const MemberFile& member, std::uint64_t from_round);

// The next revision, in which that member takes part no more from that round on. Throws (invalid_argument)
// where there is none of that name, or it has left already.
Federation without_member(const Federation& federation, std::string_view name, std::uint64_t from_round);

enum class Succession {
  same,      // the very same file
  follows,   // a later revision of the joined one
  older,     // the joined one is later
  forked,    // signed by the same founder, and yet not of one line
  stranger,  // another founder, or another federation
};
Succession succession(const Federation& joined, const Federation& offered);

}  // namespace dfrost
