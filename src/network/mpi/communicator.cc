#include "network/mpi/communicator.h"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr int kLetters = 1, kOrders = 2;              // tags: what may be under way at once
constexpr std::size_t kPiece = std::size_t{1} << 30;  // MPI counts in int
// Room for a letter is made before it comes, unless the largest that may come would be a waste of it.
constexpr std::size_t kMostRoom = std::size_t{8} << 20;

// Who is told that a rank is lost is told by MPI, which ends all: there is nothing left to decide here.
void check(int result) {
  if (result != MPI_SUCCESS) throw Error(ErrorCode::unavailable, "MPI lost the other ranks");
}

int as_count(std::size_t bytes) { return static_cast<int>(bytes); }

}  // namespace

struct Communicator::Impl {
  MPI_Comm comm = MPI_COMM_NULL;
  bool started = false;  // by us: to be ended by us
  int rank = 0, size = 1;
  std::vector<Expected> expected;
  std::vector<Bytes> room;            // of each; empty where it is made when its letter comes
  std::vector<MPI_Request> requests;  // those with room

  explicit Impl(MPI_Comm of) : comm(of) {
    check(MPI_Comm_rank(comm, &rank));
    check(MPI_Comm_size(comm, &size));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    if (started) MPI_Finalize();
  }

  // The letter whose size nobody knew beforehand.
  Bytes receive_unknown(std::size_t from) const {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Mprobe(static_cast<int>(from), kLetters, comm, &message, &status));
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count));
    Bytes bytes(static_cast<std::size_t>(count));
    check(MPI_Mrecv(bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    return bytes;
  }
};

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

bool Communicator::exists() { return true; }

Communicator Communicator::start() {
  int granted = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted));
  auto impl = std::make_unique<Impl>(MPI_COMM_WORLD);
  impl->started = true;
  if (granted < MPI_THREAD_FUNNELED)
    throw Error(ErrorCode::unimplemented, "this MPI cannot be used by a program with threads");
  return Communicator(std::move(impl));
}

std::optional<Communicator> Communicator::first(std::size_t size) const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(impl_->comm, rank() < size ? 0 : MPI_UNDEFINED, impl_->rank, &part));
  if (part == MPI_COMM_NULL) return std::nullopt;
  return Communicator(std::make_unique<Impl>(part));
}

Communicator Communicator::on_this_host() const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split_type(impl_->comm, MPI_COMM_TYPE_SHARED, impl_->rank, MPI_INFO_NULL, &part));
  return Communicator(std::make_unique<Impl>(part));
}

std::size_t Communicator::rank() const { return static_cast<std::size_t>(impl_->rank); }
std::size_t Communicator::size() const { return static_cast<std::size_t>(impl_->size); }

void Communicator::send(std::size_t rank, std::span<const std::byte> bytes) const {
  const std::uint64_t length = bytes.size();
  check(MPI_Send(&length, sizeof length, MPI_BYTE, static_cast<int>(rank), kOrders, impl_->comm));
  for (std::size_t at = 0; at < length; at += kPiece)
    check(MPI_Send(bytes.data() + at, as_count(std::min(kPiece, length - at)), MPI_BYTE,
                   static_cast<int>(rank), kOrders, impl_->comm));
}

Bytes Communicator::receive(std::size_t rank) const {
  std::uint64_t length = 0;
  check(MPI_Recv(&length, sizeof length, MPI_BYTE, static_cast<int>(rank), kOrders, impl_->comm,
                 MPI_STATUS_IGNORE));
  Bytes bytes(length);
  for (std::size_t at = 0; at < length; at += kPiece)
    check(MPI_Recv(bytes.data() + at, as_count(std::min(kPiece, length - at)), MPI_BYTE,
                   static_cast<int>(rank), kOrders, impl_->comm, MPI_STATUS_IGNORE));
  return bytes;
}

std::vector<Bytes> Communicator::gather_everywhere(std::span<const std::byte> own) const {
  const int length = as_count(own.size());
  std::vector<int> lengths(size()), places(size());
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, impl_->comm));
  int sum = 0;
  for (std::size_t r = 0; r < size(); ++r) {
    places[r] = sum;
    sum += lengths[r];
  }
  Bytes all(static_cast<std::size_t>(sum));
  check(MPI_Allgatherv(own.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE,
                       impl_->comm));
  std::vector<Bytes> parts;
  for (std::size_t r = 0; r < size(); ++r)
    parts.emplace_back(all.begin() + places[r], all.begin() + places[r] + lengths[r]);
  return parts;
}

void Communicator::listen(std::vector<Expected> expected) {
  impl_->expected = std::move(expected);
  impl_->room.assign(impl_->expected.size(), {});
  impl_->requests.clear();
  for (std::size_t i = 0; i < impl_->expected.size(); ++i) {
    const auto& [rank, most_bytes] = impl_->expected[i];
    if (most_bytes == 0 || most_bytes > kMostRoom) continue;
    impl_->room[i].resize(most_bytes);
    check(MPI_Irecv(impl_->room[i].data(), as_count(most_bytes), MPI_BYTE, static_cast<int>(rank), kLetters,
                    impl_->comm, &impl_->requests.emplace_back()));
  }
}

std::vector<SharedBytes> Communicator::carry(std::span<const Parcel> parcels) {
  std::vector<MPI_Request> sending;
  sending.reserve(parcels.size());
  for (const auto& [rank, bytes] : parcels) {
    const std::size_t length = bytes == nullptr ? 0 : bytes->size();
    check(MPI_Isend(length == 0 ? nullptr : bytes->data(), as_count(length), MPI_BYTE, static_cast<int>(rank),
                    kLetters, impl_->comm, &sending.emplace_back()));
  }
  std::vector<MPI_Status> came(impl_->requests.size());
  check(MPI_Waitall(as_count(impl_->requests.size()), impl_->requests.data(), came.data()));
  std::vector<SharedBytes> letters;
  letters.reserve(impl_->expected.size());
  for (std::size_t i = 0, known = 0; i < impl_->expected.size(); ++i) {
    Bytes& bytes = impl_->room[i];
    if (bytes.empty()) {
      bytes = impl_->receive_unknown(impl_->expected[i].rank);
    } else {
      int count = 0;
      check(MPI_Get_count(&came[known++], MPI_BYTE, &count));
      bytes.resize(static_cast<std::size_t>(count));
    }
    letters.push_back(bytes.empty() ? nullptr : std::make_shared<const Bytes>(std::move(bytes)));
  }
  check(MPI_Waitall(as_count(sending.size()), sending.data(), MPI_STATUSES_IGNORE));
  impl_->requests.clear();
  impl_->room.clear();
  impl_->expected.clear();
  return letters;
}

void Communicator::abort(int exit_code) const {
  MPI_Abort(impl_->comm, exit_code);
  std::_Exit(exit_code);
}

}  // namespace dfrost
