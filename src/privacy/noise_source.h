// Where noise that protects comes from. In a simulation from a named stream, so that a run can be repeated;
// between real sites from the system's generator, since whoever knows the noise can take it off again, and
// everybody there knows the seed. Which of the two is the driver's to say and no setting's, so that nobody
// can forget it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace dfrost {

enum class NoiseOrigin {
  seed,    // the same every time: for simulations
  system,  // getrandom(2): nobody can repeat it, not even who drew it
};

class NoiseSource {
 public:
  // The name of the stream; all of it is ignored where the system is asked.
  NoiseSource(NoiseOrigin origin, Seed seed, std::string_view purpose, std::uint64_t client,
              std::uint64_t round);

  std::uint64_t next();
  double uniform();  // [0, 1), 53 bits
  double normal();   // mean 0, variance 1

 private:
  std::optional<RandomStream> stream_;  // nothing: the system's
  std::vector<std::uint64_t> drawn_;    // of the system's, not used yet
  std::optional<double> spare_;         // normals come in pairs
};

}  // namespace dfrost
