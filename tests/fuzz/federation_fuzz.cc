// Member and federation files from strangers. Any text gives values that keep every promise, or an Error; as
// a whole, where nearly all is stopped by the signature, and its body as if the stranger had signed it
// himself.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "dfrost/error.h"
#include "federation/federation_file.h"
#include "federation/member_file.h"
#include "federation/names.h"

namespace {

const std::vector<std::byte> kSigner(44, std::byte{7});

void use_member(const dfrost::MemberFile& member) {
  dfrost::check_member_name(member.name);
  if (!member.address.empty() && dfrost::parse_address(member.address).port == 0) std::abort();
}

void use_federation(const dfrost::Federation& federation) {
  const auto config = federation.config();
  if (federation.members.empty() || federation.members.size() < config.clients().value_or(1)) std::abort();
  for (const std::uint64_t round : {1, 2, 1000}) {
    if (federation.present_in(round).size() != federation.nodes_in(round)) std::abort();
  }
  for (const auto& member : federation.members) {
    if (federation.find(member.name) != &member || federation.find(member.key()) != &member) std::abort();
  }
  // What was read is written and read as the same.
  const auto again = dfrost::parse_federation_body(federation_body(federation), kSigner);
  if (federation_body(again) != federation_body(federation)) std::abort();
}

template <typename Step>
void unless_refused(const Step& step) {
  try {
    step();
  } catch (const dfrost::Error& error) {
    if (std::string_view(error.what()).empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  unless_refused([&] { use_member(dfrost::parse_member(text)); });
  unless_refused([&] { use_member(dfrost::parse_member_body(text, kSigner)); });
  unless_refused([&] { use_federation(dfrost::parse_federation(text)); });
  unless_refused([&] {
    const auto federation = dfrost::parse_federation_body(text, kSigner);
    dfrost::check_federation(federation);
    use_federation(federation);
  });
  return 0;
}
