// Who holds which training picture. Every picture goes to exactly one client; the test set is never split.
// Domains are split one by one, `clients_per_domain` clients each, client = domain · clients_per_domain + i.
// Deterministic: a function of the labels, the options and the seed; one random stream per domain and
// attempt.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "data/corpus.h"

namespace dfrost {

enum class PartitionKind {
  dirichlet,  // class shares drawn at random; the smaller alpha, the more uneven
  extreme,    // nearly all of a class at its designated client or clients
  iid,        // equal random parts
  file,       // as a file says
};

enum class DirichletForm {
  per_class,   // each class: shares over the clients ~ Dirichlet(alpha). The paper's appendix.
  per_client,  // each client: weights over the classes ~ Dirichlet(alpha); a class is shared in proportion to
               // the weights that the clients gave it. The paper's main text.
};

struct Partition {
  std::vector<std::vector<std::size_t>> clients;  // indices of training pictures, increasing
  std::vector<std::string> names = {};            // of the clients, where a file gives them
};

struct PartitionOptions {
  PartitionKind kind = PartitionKind::dirichlet;
  double alpha = 0.5;
  DirichletForm per = DirichletForm::per_class;
  std::size_t clients_per_domain = 10;
  std::size_t min_per_client = 33;  // drawn again until every client has this many (the paper: more than 32)
  std::size_t max_draws = 1000;     // … but no more often than this: then it is refused
  double designated_share = 0.99;   // extreme: of a class, at its designated clients together
  std::filesystem::path file = {};  // kind = file
  // Known already, from a program that brings its own pictures: then nothing else counts.
  std::shared_ptr<const Partition> given = {};

  void validate() const;
};

// `labels` are those of one domain, 0 … classes - 1; indices in the result count from 0.
Partition split_dirichlet(std::span<const int> labels, std::size_t classes, const PartitionOptions& options,
                          RandomStream& stream);
Partition split_extreme(std::span<const int> labels, std::size_t classes, const PartitionOptions& options,
                        RandomStream& stream);
Partition split_iid(std::size_t count, const PartitionOptions& options, RandomStream& stream);

// Which clients each class is designated to. With more clients than classes, neighbouring classes differ by
// at most one client: 7 classes and 10 clients give 1,2,1,2,1,2,1. With fewer, a client serves several
// classes.
std::vector<std::vector<std::size_t>> designated_clients(std::size_t classes, std::size_t clients);

// The whole federation. Refused, with the reason, where a client would get fewer than `min_per_client`.
Partition make_partition(const Corpus& corpus, const PartitionOptions& options, Seed seed);

// counts[client][class].
std::vector<std::vector<std::size_t>> count_table(const Partition& partition, std::span<const int> labels,
                                                  std::size_t classes);

// The domain that most of each client's pictures are of, the first of equals; nothing for a client without
// any.
std::vector<std::optional<std::size_t>> home_domains(const Partition& partition, const Corpus& corpus);

std::string_view to_string(PartitionKind kind);
std::string_view to_string(DirichletForm form);

}  // namespace dfrost
