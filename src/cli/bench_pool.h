// How long PFPT's aggregation takes, fast and obvious, for `dfrost bench merge --pfpt`.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

namespace dfrost::cli {

// A row for each size: senders, prompts of each, width, passes, milliseconds of both versions. The fast one
// is the shortest of as many as fit into the time, three at least; the slow one is taken once.
nlohmann::ordered_json bench_pools(std::size_t passes, double seconds);

}  // namespace dfrost::cli
