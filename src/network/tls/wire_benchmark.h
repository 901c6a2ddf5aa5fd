// How fast letters travel between two sites on this machine, beside what bare TLS 1.3 does with the same
// bytes in the same moment: OpenSSL between two blocking sockets, and nothing around it.
#pragma once

#include <cstddef>

namespace dfrost {

struct WireBenchmarkOptions {
  std::size_t message_bytes = 2'200'000;  // a ViT-B/32 head of 700 classes and its prompts
  std::size_t small_bytes = 31'000;       // ten prompts of ViT-B/32
  double seconds = 1;                     // each of the two is measured so long, in turns
  int turns = 3;                          // the best counts: what other programs do only ever takes away

  void validate() const;
};

struct WireBenchmark {
  double bare_bytes_per_second = 0;
  double wire_bytes_per_second = 0;
  double small_letter_seconds = 0;  // the median, from send() here to receive() there

  double ratio() const { return wire_bytes_per_second / bare_bytes_per_second; }
};

WireBenchmark benchmark_wire(const WireBenchmarkOptions& options);

}  // namespace dfrost
