// Whether mpirun, srun or another launcher of MPI jobs started this process, by what they leave in its
// environment alone: who was started by nobody starts no MPI, and waits for none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace dfrost {

struct Launch {
  std::string by;         // the variable that told
  std::size_t rank = 0;   // of this process
  std::size_t ranks = 0;  // that were started together; 0: it does not say
};

std::optional<Launch> find_launch();

}  // namespace dfrost
