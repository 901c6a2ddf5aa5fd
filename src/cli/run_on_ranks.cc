#include "cli/run_on_ranks.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cluster/cluster.h"
#include "cluster/lookout.h"
#include "dfrost/error.h"
#include "network/mpi/communicator.h"

namespace dfrost::cli {

void require_company(const Launch& launch, const Communicator& ranks) {
  if (launch.ranks <= 1 || ranks.size() == launch.ranks) return;
  throw Error(
      ErrorCode::failed_precondition,
      fmt::format("the launcher started {} processes ({}), and MPI finds {}", launch.ranks, launch.by,
                  ranks.size()),
      "start it with the mpirun of the MPI that dfrost was built with, or under Slurm by srun --mpi=pmix");
}

void run_on_ranks(const Launch& launch, const std::function<RunConfig()>& load,
                  const std::function<std::filesystem::path()>& folder,
                  const std::function<void(RunPlace&)>& lead) {
  Lookout lookout;  // before MPI starts threads
  Communicator ranks = Communicator::start();
  require_company(launch, ranks);
  Cluster cluster(ranks);
  try {
    cluster.heed_signals(lookout, folder, [](const Error& error) { print_error(error); });
    if (cluster.leads())
      lead(cluster);
    else
      cluster.follow(load);
  } catch (const std::exception& error) {
    if (cluster.leads() && !cluster.left_others_waiting()) throw;
    if (!cluster.leads())
      tell(fmt::format("rank {} on {}:\n", ranks.rank(), cluster.places()[ranks.rank()].host));
    print_error(error);
    ranks.abort(exit_code(error));
  }
}

}  // namespace dfrost::cli
