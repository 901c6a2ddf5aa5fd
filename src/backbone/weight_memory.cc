#include "backbone/weight_memory.h"

#include "backbone/architecture.h"

namespace dfrost {

std::size_t packed_weight_bytes(const Geometry& geometry, Precision precision, bool training) {
  return architecture_of(geometry).weight_bytes(geometry, precision, training);
}

}  // namespace dfrost
