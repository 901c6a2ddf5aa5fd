#include "network/mpi/launcher.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace dfrost {
namespace {

struct Traces {
  const char* rank;
  const char* ranks;
};

// Open MPI's mpirun; MPICH's and Intel's, and srun --mpi=pmi2; srun --mpi=pmix, which has Slurm say how many.
// What Slurm alone sets is there in a batch script too, where nobody was started together.
constexpr std::array kTraces = {Traces{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                Traces{"PMI_RANK", "PMI_SIZE"}, Traces{"PMIX_RANK", "SLURM_NTASKS"}};

std::optional<std::size_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Launch> find_launch() {
  for (const auto& traces : kTraces)
    if (const auto rank = number_in(traces.rank))
      return Launch{traces.rank, *rank, number_in(traces.ranks).value_or(0)};
  return std::nullopt;
}

}  // namespace dfrost
