// One experiment, whole: what `dfrost run` reads from a TOML file and every stage takes its options from. A
// plain value; a default-made one is the paper's main setting (FiveDataset, D-FROST). Each section is the
// struct of the part that uses it, where there is one. The keys of the file, with their comments, are in
// config/key.h; reading is in config/toml_file.h, named settings in config/methods.h and config/presets.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backbone/checkpoint.h"
#include "base/random.h"
#include "config/attack.h"
#include "data/corpus.h"
#include "dfrost/backbone.h"
#include "dfrost/merge.h"
#include "measure/evaluation.h"
#include "merge/merge_metric.h"
#include "merge/set_defence.h"
#include "network/faults.h"
#include "network/topology.h"
#include "partition/partition.h"
#include "privacy/privacy_options.h"
#include "train/adapter.h"
#include "train/kernel_evolution.h"
#include "train/local_gradient.h"
#include "train/local_update.h"

namespace dfrost {

struct RunSection {
  std::string name = "run";  // of the folder runs/NAME
  Seed seed = 1;             // everything random follows from it
  std::size_t rounds = 40;
  std::size_t threads = 0;           // 0: all cores
  std::size_t checkpoint_every = 1;  // rounds; 0: only at the end
};

struct BackboneSection {
  std::filesystem::path path = "vit-b32";  // a file, a folder, or a name without '/' and '.'
  Precision precision = Precision::automatic;
  std::size_t image_size = 0;      // pixels; 0: the checkpoint's own
  std::size_t heads = 0;           // attention heads; 0: what the checkpoint's files or its width say
  std::string preprocessing = {};  // by name; empty: what the checkpoint's files say

  CheckpointOptions checkpoint_options() const;
};

struct DataSection {
  std::vector<DomainSpec> domains = corpus_preset("five")->domains;
  std::filesystem::path root = {};  // empty: default_data_root()
  std::size_t train_per_domain = CorpusOptions{}.train_per_domain;
  std::size_t test_per_domain = CorpusOptions{}.test_per_domain;
  ExifOrientation exif = ExifOrientation::apply;
  bool allow_fewer = false;     // a domain that has fewer pictures gives all it has, instead of being refused
  std::size_t cache_mb = 1280;  // most memory for patch embeddings that are kept between epochs; 0: none are
  std::function<Corpus()> given = {};  // what a program brings instead; no key says it
};

struct NetworkSection {
  TopologyOptions topology = {};
  FaultOptions faults = {};
};

// Who learns from whom.
enum class Cooperation {
  peers,    // clients send their state to their neighbours and merge what they receive
  none,     // every client is alone: the lower bound
  central,  // one client holds the data of all: the upper bound
  server,   // clients around a server, which hands its state out and merges what they make of it
};
std::string_view to_string(Cooperation cooperation);

// What a client does in a round; run/method.cc has the phases of each.
enum class RoundKind {
  update,  // train for a while, exchange states, merge
  dgd,     // decentralized gradient descent: merge, then a step of the gradient taken before (Yuan 2016)
  d2,      // D²: a gradient step corrected by the last round's, then merge (Tang 2018)
  ntk,     // average, then move along the tangent kernel of the neighbourhood's pictures (Thompson 2025)
};
std::string_view to_string(RoundKind kind);

// What becomes of prompts in a round of the kind `ntk`, which moves heads alone.
enum class NtkPrompts {
  frozen,   // they stay as they were drawn, and do not travel on to be merged
  trained,  // the usual local update goes before the kernel's, and they are merged
};
std::string_view to_string(NtkPrompts prompts);

struct NtkOptions {
  double rate = 0.01;   // of the first round
  double decay = 0.07;  // its fall: rate · e^(−decay · rounds before)
  std::vector<std::size_t> steps = EvolutionOptions{}.steps;
  double relative_tolerance = OdeOptions{}.relative;
  double absolute_tolerance = OdeOptions{}.absolute;
  std::size_t pictures = 512;  // of a client in a round, at most: drawn anew each round
  NtkPrompts prompts = NtkPrompts::frozen;
};

struct MethodSection {
  std::string name = "dfrost";  // a preset; what it sets stands in the sections below
  RoundKind round = RoundKind::update;
  GradientImages gradient = GradientImages::all;  // dgd and d2
  Cooperation cooperation = Cooperation::peers;

  // Whether anybody sends anything.
  bool exchanges() const { return cooperation == Cooperation::peers || cooperation == Cooperation::server; }
};

struct PromptsSection : PromptOptions {
  // Client u sees counts[u mod size] prompts instead of `count`; empty: all clients alike.
  std::vector<std::size_t> counts = {};
};

// How much each sender's prompts weigh; an average by index takes `equal` for `mixing`.
enum class SenderWeights {
  equal,   // the paper's uniform q
  mixing,  // the client's row of the Metropolis matrix
  mass,  // that, times the pictures of all classes that stand behind them: HeadMerge::class_mass counts them
};
std::string_view to_string(SenderWeights weights);

enum class HeadMerge {
  average,  // by the mixing matrix, as all methods of the paper do
  own,      // every client keeps its own
  // The last layer row by row: a class weighs as many pictures as stand behind it at each sender, by the
  // mixing matrix; all other layers as `average`.
  class_mass,
};
std::string_view to_string(HeadMerge merge);

// What becomes of prompt sets whose number of prompts is not fixed.
enum class PoolMerge {
  fixed,    // it is: merge.kind makes as many as there were
  pfpt,     // PFPT's probabilistic aggregation decides how many there are (Weng et al. 2024)
  pass_on,  // prompts of others are kept as they are beside the client's own, newest first, and passed on
};
std::string_view to_string(PoolMerge merge);

enum class PoolOverflow {
  drop,   // those of least use, or the oldest
  error,  // the run stops
};
std::string_view to_string(PoolOverflow overflow);

struct PoolMergeOptions {
  PoolMerge kind = PoolMerge::fixed;
  std::size_t limit = 0;  // prompts in a pool, at most; 0: as many as there come
  PoolOverflow overflow = PoolOverflow::drop;
  std::size_t passes = 50;  // pfpt: over all senders
  double rate = 1e-3;       // pfpt: of its Adam
};

// HeadMerge::class_mass: how many pictures stand behind a row. A client's own count, or what is left of what
// reached it from others, whichever is more.
struct MassOptions {
  double decay = 1;          // what is left of it from round to round
  double power = 1;          // it weighs (floor + mass)^power; 0: all alike
  double floor = 0;          // pictures that everybody is taken to have of every class
  std::size_t rounding = 1;  // own counts are told as the nearest multiple
  double noise = 0;          // scale of the Laplace noise that is added to own counts, once
};

// What is done about senders that may be hostile, beside MergeOptions::trim and median. Everything off, or so
// loose that it never acts: the plain merge, to the last bit.
struct DefenceOptions {
  double reject = 0;  // senders so many times as far from the rest as is usual are not believed; 0: all are
  ClipOptions clip = {};  // prompts
  // Whatever is averaged by index: heads, and prompts where they are.
  ClipOptions head_clip = {};
  double head_nearest = 0;  // the share of neighbours furthest from the own that is left out
  double head_trim = 0;     // of the weight, value by value, from either end
  double head_median = 0;   // geometric median; full weight within so many usual distances; 0: mean
  double mass_cap = 0;      // class-mass: most pictures of a class that a sender is believed to have; 0: any

  bool is_on() const;
};

struct MergeSection : MergeOptions {
  MergeMetric metric = MergeMetric::embedding;
  SenderWeights weights = SenderWeights::equal;
  HeadMerge head = HeadMerge::average;
  PoolMergeOptions pool = {};
  MassOptions mass = {};
  DefenceOptions defence = {};
  // What a program brings instead of `kind`; no key says it.
  std::shared_ptr<const CustomMerge> custom = {};
  // MergeInput::metric, [rows, width], where `metric` comes from the backbone: make_method() fills it in.
  std::shared_ptr<const std::vector<float>> metric_map = {};

  // Whether anything is done about senders that may be hostile.
  bool defends() const { return defence.is_on() || trim > 0 || median > 0; }
};

struct DiagnosticsSection {
  bool theory = false;  // hold Theorem 1 against every OT merge
  // The merges of so many clients of each domain are kept to be looked at, in rounds that evaluate.
  std::size_t merge_views = 1;
};

struct RunConfig {
  RunSection run;
  BackboneSection backbone;
  DataSection data;
  PartitionOptions partition;
  NetworkSection network;
  MethodSection method;
  NtkOptions ntk;
  TrainOptions train;
  PromptsSection prompts;
  HeadOptions head;  // `classes` is not a key: it follows from the data
  MergeSection merge;
  PrivacyOptions privacy;
  ScoringOptions evaluate;
  DiagnosticsSection diagnostics;
  AttackSection attack;

  // Each value alone, then that they fit together. Throws (invalid_argument) with the reason, at the key.
  void validate() const;
  // The part of it that is about [data] and [partition].
  void validate_data() const;
  // What depends on the number of clients; part of validate() where it is known.
  void validate_network(std::size_t clients_in_all) const;

  // How many clients there are; nothing where a partition file has yet to say it.
  std::optional<std::size_t> clients() const;
  // Whether heads are trained in coordinates that come with the backbone.
  bool takes_backbone_moments() const {
    return train.frame.coordinates != HeadCoordinates::raw && train.frame.moments == MomentsOf::backbone;
  }
  // Whether the number of a client's prompts changes from round to round.
  bool pool_grows() const { return method.exchanges() && merge.pool.kind != PoolMerge::fixed; }
  // What a client without a number of its own holds.
  PromptOptions usual_prompts() const;
  // What client u holds: its own number of prompts.
  PromptOptions prompts_of(std::size_t client) const;
  // The most that any client holds.
  std::size_t most_prompts() const;
  // [evaluate] with as many test pictures as its share of the run's work allows. A function of the settings
  // alone, so that everybody scores on the same pictures; where they do not say how large the data is, there
  // is no limit.
  ScoringOptions scoring() const;
  // What the whole run has to do, in pictures that go forward and back; scoring one counts half. An estimate,
  // to tell how long it will take; nothing where the settings do not say how large the data is.
  std::optional<double> work() const;
  // [data] with the run's seed and the data folder filled in.
  CorpusOptions corpus() const;
};

}  // namespace dfrost
