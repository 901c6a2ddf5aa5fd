// Stands in for communicator.cc in a build without MPI: nobody can have started one, so that nothing but
// start() is ever called.
#include "dfrost/error.h"
#include "network/mpi/communicator.h"

#include <cstdlib>

namespace dfrost {

struct Communicator::Impl {};

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

bool Communicator::exists() { return false; }
Communicator Communicator::start() {
  throw Error(ErrorCode::unimplemented, "this dfrost was built without MPI, and cannot run on several ranks",
              "run it without mpirun, or build it with -DDFROST_MPI=ON where MPI is installed "
              "(Debian: libopenmpi-dev and openmpi-bin)");
}
std::optional<Communicator> Communicator::first(std::size_t) const { return std::nullopt; }
Communicator Communicator::on_this_host() const { return start(); }
std::size_t Communicator::rank() const { return 0; }
std::size_t Communicator::size() const { return 1; }
void Communicator::send(std::size_t, std::span<const std::byte>) const {}
Bytes Communicator::receive(std::size_t) const { return {}; }
std::vector<Bytes> Communicator::gather_everywhere(std::span<const std::byte>) const { return {}; }
void Communicator::listen(std::vector<Expected>) {}
std::vector<SharedBytes> Communicator::carry(std::span<const Parcel>) { return {}; }
void Communicator::abort(int exit_code) const { std::_Exit(exit_code); }

}  // namespace dfrost
