// The processes that a launcher of MPI jobs started together, seen from one of them: rank 0 … size − 1. The
// only place that calls MPI; in a build without it (-DDFROST_MPI=OFF) communicator_absent.cc stands in its
// place, whose start() says so. What is sent is what arrives, in the order it was sent; a rank that dies ends
// all of them.
// Threads: one, the one that started it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "network/exchange.h"

namespace dfrost {

using Bytes = std::vector<std::byte>;

class Communicator {
 public:
  // Whether this dfrost was built with MPI.
  static bool exists();
  // Starts MPI, once in a process, and ends it with the object. Throws (unimplemented) where there is none.
  static Communicator start();
  // The first `size` ranks of these, as if nobody else was there; nothing at others. All call it at once.
  std::optional<Communicator> first(std::size_t size) const;
  // Those of these that can share memory with this one, in the same order. All call it at once.
  Communicator on_this_host() const;

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  std::size_t rank() const;
  std::size_t size() const;

  // Of any length. Returns when the bytes may be changed: the other may or may not have them by then.
  void send(std::size_t rank, std::span<const std::byte> bytes) const;
  Bytes receive(std::size_t rank) const;
  // What every rank gives, at every rank. All call it at once.
  std::vector<Bytes> gather_everywhere(std::span<const std::byte> own) const;

  // Letters, of which both sides know beforehand that they will be sent, in one order between two ranks.
  struct Expected {
    std::size_t rank = 0;
    std::size_t most_bytes = 0;  // that it can have; 0: nobody knows
  };
  struct Parcel {
    std::size_t rank = 0;
    SharedBytes bytes;  // null: there is none after all, which the other is told
  };
  // Makes room for them, so that they can come at any time. Not again before carry().
  void listen(std::vector<Expected> expected);
  // Sends these, and returns when all that is expected is there: in its order, null where there was none.
  std::vector<SharedBytes> carry(std::span<const Parcel> parcels);

  // Ends all ranks at once, without waiting for any of them.
  [[noreturn]] void abort(int exit_code) const;

 private:
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dfrost
