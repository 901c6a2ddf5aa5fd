// `dfrost run` as one of several ranks that mpirun or srun started.
#pragma once

#include <filesystem>
#include <functional>

#include "network/mpi/communicator.h"
#include "network/mpi/launcher.h"
#include "run/run.h"

namespace dfrost::cli {

// Throws (failed_precondition) where not all of the launcher's processes found each other: a launcher of
// another MPI starts some of which each would run all of it.
void require_company(const Launch& launch, const Communicator& ranks);

// At rank 0 `lead` runs and shows everything, at the place that it is given; the others do what it asks of
// them, without a word. `folder` says which is the run's.
void run_on_ranks(const Launch& launch, const std::function<RunConfig()>& load,
                  const std::function<std::filesystem::path()>& folder,
                  const std::function<void(RunPlace&)>& lead);

}  // namespace dfrost::cli
