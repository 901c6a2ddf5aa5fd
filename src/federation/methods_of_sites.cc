#include "federation/methods_of_sites.h"

#include <fmt/format.h>

#include "dfrost/error.h"

namespace dfrost {

void check_methods_of_sites(const RunConfig& config) {
  if (config.method.cooperation != Cooperation::peers) {
    const bool served = config.method.cooperation == Cooperation::server;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("method.cooperation = {} is not for sites: {}", to_string(config.method.cooperation),
                    served ? "a federation has no member yet that is a server"
                           : "they exchange nothing by it, and need no federation"),
        "name a method whose clients are peers, such as --set method.name=dfrost, or use 'dfrost "
        "run' for a simulation")
        .at("method.cooperation");
  }
  if (config.network.faults.late_clients > 0 || config.network.faults.meet_round > 0)
    throw Error(ErrorCode::invalid_argument,
                "network.late_clients and network.meet_round are for simulations: sites join when they do",
                "leave them out; 'dfrost federation add' takes in another site later")
        .at("network");
  if (config.method.round == RoundKind::ntk)
    throw Error(
        ErrorCode::invalid_argument,
        "method.round = ntk is not for sites: its letters hold what the head reads of every single picture",
        "name a method that sends trained values alone, such as --set method.name=dfrost, or use 'dfrost "
        "run' for a simulation")
        .at("method.round");
  const auto& frame = config.train.frame;
  const bool sends_moments = frame.coordinates != HeadCoordinates::raw && frame.moments == MomentsOf::network;
  if (!sends_moments || frame.noise == 0) return;
  throw Error(ErrorCode::invalid_argument,
              "train.moment_noise is not for sites: it is drawn from run.seed, which every member knows, so "
              "that every member can take it off again",
              "--set train.moment_noise=0, and see docs/explanation/what-travels.md for what moments tell")
      .at("train.moment_noise");
}

}  // namespace dfrost
