// `dfrost run` as one of several ranks that mpirun or srun started.
#pragma once

#include <filesystem>
#include <functional>

#include "network/mpi/launcher.h"
#include "run/run.h"

namespace dfrost::cli {

// At rank 0 `lead` runs and shows everything, at the place that it is given; the others do what it asks of
// them, without a word. `folder` says which is the run's.
void run_on_ranks(const Launch& launch, const std::function<RunConfig()>& load,
                  const std::function<std::filesystem::path()>& folder,
                  const std::function<void(RunPlace&)>& lead);

}  // namespace dfrost::cli
