#include "federation/wire_setup.h"

#include "base/version.h"
#include "config/settings_identity.h"

namespace dfrost {

WireOptions wire_options(const Site& site) {
  const Federation& federation = site.joined();
  const RunConfig config = federation.config();
  WireOptions options;
  options.self = site.number();
  options.listen = site.settings.listen;
  for (const auto& member : federation.members)
    options.members.push_back(
        {.number = member.number, .name = member.name, .address = member.address, .key = member.key()});
  options.federation = federation.id();
  options.revision = federation.revision;
  options.run = run_id(config, config.backbone.precision);
  options.software = std::string(version());
  options.heartbeat_seconds = site.settings.heartbeat_seconds;
  return options;
}

}  // namespace dfrost
