#include "config/fields.h"

namespace dfrost::fields {
namespace {

std::vector<ConfigKey> run_keys() {
  return {
      {.section = "run",
       .name = "name",
       .field = text(DFROST_AT(run.name)),
       .comment = "the records go to runs/NAME",
       .explanation =
           "Letters, digits and . _ + - only. A run of that name that is already there is never overwritten.",
       .main = true},
      {.section = "run",
       .name = "seed",
       .field = count(DFROST_AT(run.seed), 0, std::numeric_limits<std::int64_t>::max()),
       .comment = "everything random follows from it; same seed, same bytes",
       .explanation =
           "Which pictures are taken, who holds them, the graph of each round, first values, data order: "
           "all are drawn from streams of their own, so that neither the number of threads nor a "
           "restart changes any of them.",
       .main = true},
      {.section = "run",
       .name = "rounds",
       .field = count(DFROST_AT(run.rounds)),
       .comment = "a round: train, exchange, merge",
       .explanation = "0 scores the untrained clients and stops.",
       .paper = "appendix, Hyperparameter Settings: 40",
       .main = true},
      {.section = "run",
       .name = "threads",
       .field = count(DFROST_AT(run.threads), 0, 4096),
       .comment = "clients trained side by side; 0: one per core",
       .explanation = "Changes the time a run takes and nothing else."},
      {.section = "run",
       .name = "checkpoint_every",
       .field = count(DFROST_AT(run.checkpoint_every)),
       .comment = "rounds between checkpoints; 0: only after the last round",
       .explanation =
           "Ctrl-C saves the last round that is done, too. A run goes on from its last checkpoint, bit for "
           "bit as if it had not stopped."},
  };
}

std::vector<ConfigKey> backbone_keys() {
  return {
      {.section = "backbone",
       .name = "path",
       .field = path(DFROST_AT(backbone.path), true),
       .comment = "a checkpoint's file or folder, or the name of one",
       .explanation =
           "A text without '/' and '.' is a name; anything else is a path, counted from the folder of "
           "this file. safetensors, PyTorch archives and folders from Hugging Face are understood.",
       .paper = "§Experiment Setup: ViT-B/32",
       .main = true},
      {.section = "backbone",
       .name = "precision",
       .field = word(DFROST_AT(backbone.precision),
                     words({Precision::automatic, Precision::fp32, Precision::bf16})),
       .comment = "auto: the fastest that this machine has",
       .explanation = "bf16 needs AMX tiles or AVX512_BF16. Results of the two precisions differ in the "
                      "third digit or so: name "
                      "one where runs on different machines are to be compared."},
      {.section = "backbone",
       .name = "image_size",
       .field = count(DFROST_AT(backbone.image_size), 0, 4096),
       .comment = "pixels; 0: the checkpoint's own",
       .explanation =
           "A multiple of the patch size. The position embeddings are interpolated. Smaller is faster."},
      {.section = "backbone",
       .name = "heads",
       .field = count(DFROST_AT(backbone.heads), 0, 1024),
       .comment = "attention heads; 0: as the checkpoint says, or a known model of its shape has",
       .explanation =
           "Only for checkpoints without a config.json. Where nothing says it, width / 64 is taken and a "
           "warning given."},
      {.section = "backbone",
       .name = "preprocessing",
       .field = text(DFROST_AT(backbone.preprocessing)),
       .comment = "how pictures are prepared, by name; empty: as the checkpoint says",
       .explanation = "Names as `dfrost backbone inspect --preprocessing` takes them."},
  };
}

std::vector<ConfigKey> data_keys() {
  return {
      {.section = "data",
       .name = "domains",
       .field = DomainsField{place<std::vector<DomainSpec>>(DFROST_AT(data.domains))},
       .comment = "data sets, in this order; names, or tables {name, path, format, train, test}",
       .explanation =
           "A name alone is one of `dfrost data list`. A table's path is a folder with one folder of "
           "pictures per class, a CSV list or a known set of files, told apart by their names unless "
           "format says; train and test are how many pictures to use, where not what all domains use. "
           "\"five\" and \"four\" stand for the paper's two lists with their sizes and degrees.",
       .paper = "§Experiment Setup: FiveDataset, FourDataset",
       .main = true},
      {.section = "data",
       .name = "root",
       .field = path(DFROST_AT(data.root)),
       .comment = "the folder that holds the data sets; empty: the data folder",
       .explanation = "The data folder is $DFROST_DATA, else $XDG_DATA_HOME/dfrost/data, else "
                      "~/.local/share/dfrost/data."},
      {.section = "data",
       .name = "train_per_domain",
       .field = count(DFROST_AT(data.train_per_domain)),
       .comment = "training pictures of each domain, over all its clients; 0: all",
       .explanation = "Taken as evenly over the classes as the data allows. Training time grows with it.",
       .paper = "appendix, Datasets and Partitions: 20,000 (Five), 30,000 (Four)",
       .main = true},
      {.section = "data",
       .name = "test_per_domain",
       .field = count(DFROST_AT(data.test_per_domain)),
       .comment = "test pictures of each domain; 0: all",
       .explanation =
           "Together they are the global test set that clients are scored on; see evaluate.samples for "
           "how many of them are used while the run goes on.",
       .paper = "appendix, Datasets and Partitions: 2,000 (Five), 2,500 (Four)",
       .main = true},
      {.section = "data",
       .name = "exif",
       .field = word(DFROST_AT(data.exif), words({ExifOrientation::apply, ExifOrientation::ignore})),
       .comment = "turn pictures upright as their cameras noted (Exif orientation), or leave them as stored",
       .explanation =
           "Phones store a picture as the sensor saw it and note how they were held. apply does what "
           "Pillow's ImageOps.exif_transpose does."},
      {.section = "data",
       .name = "allow_fewer",
       .field = flag(DFROST_AT(data.allow_fewer)),
       .comment = "let a domain that has fewer pictures give all it has",
       .explanation =
           "Otherwise a domain that has fewer than asked for is refused, so that a result cannot stand "
           "on less data than its file says."},
      {.section = "data",
       .name = "cache_mb",
       .field = count(DFROST_AT(data.cache_mb), 0, std::size_t{1} << 30),
       .comment = "most megabytes for patch embeddings that are kept between epochs; 0: none are",
       .explanation =
           "It saves time and changes no result. Four fifths go to training pictures, the rest to test "
           "pictures; what does not fit is computed each time. A picture takes 0.15 MB with ViT-B/32. Where "
           "prompts never move, an eighth on top is for features, which then need one pass in all rounds."},
  };
}

std::vector<ConfigKey> partition_keys() {
  return {
      {.section = "partition",
       .name = "kind",
       .field = word(DFROST_AT(partition.kind), words({PartitionKind::dirichlet, PartitionKind::extreme,
                                                       PartitionKind::iid, PartitionKind::file})),
       .comment = "how a domain's training pictures are dealt to its clients",
       .explanation =
           "dirichlet: class shares drawn at random, the more uneven the smaller alpha. extreme: nearly "
           "all of a class at its designated clients. iid: equal random parts. file: as a file says.",
       .paper = "§Experiment Setup, Dataset and Data Partition",
       .main = true},
      {.section = "partition",
       .name = "alpha",
       .field = positive(DFROST_AT(partition.alpha)),
       .comment = "dirichlet: 0.1 is very uneven, 0.5 uneven, 100 nearly even",
       .explanation = "",
       .paper = "§Experiment Setup: 0.5 and 0.1",
       .main = true},
      {.section = "partition",
       .name = "clients_per_domain",
       .field = count(DFROST_AT(partition.clients_per_domain), 1, 1'000'000),
       .comment = "every client sees one domain alone",
       .explanation = "The federation has this many times the number of domains.",
       .paper = "appendix, Datasets and Partitions: 10",
       .main = true},
      {.section = "partition",
       .name = "per",
       .field = word(DFROST_AT(partition.per), words({DirichletForm::per_class, DirichletForm::per_client})),
       .comment = "dirichlet: shares of each class over clients, or of each client over classes",
       .explanation =
           "class: each class is dealt out by shares over the clients. client: each client draws weights "
           "over the classes, and a class is shared in proportion to them. The paper's wording allows both.",
       .paper = "§Experiment Setup; appendix, Datasets and Partitions"},
      {.section = "partition",
       .name = "min_per_client",
       .field = count(DFROST_AT(partition.min_per_client)),
       .comment = "drawn again until every client has this many pictures",
       .explanation =
           "A client without pictures has nothing to train on. The paper's setting leaves more than 32."},
      {.section = "partition",
       .name = "max_draws",
       .field = count(DFROST_AT(partition.max_draws), 1, 1'000'000),
       .comment = "after so many draws without success the partition is refused",
       .explanation = ""},
      {.section = "partition",
       .name = "designated_share",
       .field = NumberField{place<double>(DFROST_AT(partition.designated_share)), 0, 1, true, false},
       .comment = "extreme: the share of a class at its designated clients",
       .explanation = "The rest is spread over the domain's other clients.",
       .paper = "appendix, Datasets and Partitions: 99 %"},
      {.section = "partition",
       .name = "file",
       .field = path(DFROST_AT(partition.file)),
       .comment = "kind = \"file\": lines picture,client",
       .explanation =
           "A picture is named as in its folder or CSV list (bee/one.jpg), with its domain in front where "
           "several have one of that name (mine:bee/one.jpg), or by its number from 0 in the pooled training "
           "set. Clients are numbers from 0, or names. Every training picture needs a line; lines of test "
           "pictures are passed over. `dfrost partition show --save` writes such a file."},
  };
}

std::vector<ConfigKey> network_keys() {
  const auto kinds = [] {
    Words<TopologyKind> result;
    for (const auto kind : kTopologyKinds) result.emplace_back(kind, to_string(kind));
    return result;
  };
  return {
      {.section = "network",
       .name = "topology",
       .field = word(DFROST_AT(network.topology.kind), kinds()),
       .comment = "who may talk to whom in a round; see it with dfrost topology show",
       .explanation =
           "Drawn anew every round from the seed and the round's number alone. ring, grid, torus and "
           "exponential permute who stands where; regular and erdos-renyi are random graphs; file "
           "reads the links from network.file.",
       .paper = "§Experiment Setup, Communication Topologies; appendix, Network Topologies",
       .main = true},
      {.section = "network",
       .name = "degree",
       .field = count(DFROST_AT(network.topology.degree), 0, 1'000'000),
       .comment = "neighbours: exactly (regular) or on average (erdos-renyi)",
       .explanation =
           "Less than the number of clients; for regular, degree times clients must be even. The other "
           "topologies do not look at it.",
       .paper = "§Experiment Setup: 5 (Five), 4 (Four)",
       .main = true},
      {.section = "network",
       .name = "static",
       .field = flag(DFROST_AT(network.topology.is_static)),
       .comment = "one graph for all rounds",
       .explanation = ""},
      {.section = "network",
       .name = "file",
       .field = path(DFROST_AT(network.topology.file)),
       .comment = "topology = \"file\": two client numbers per line",
       .explanation = ""},
      {.section = "network",
       .name = "link_failure",
       .field = NumberField{place<double>(DFROST_AT(network.faults.link_failure)), 0, 1, false, false},
       .comment = "each link fails in each round with this probability",
       .explanation = "Both directions together.",
       .paper = "§Experimental Results, Robustness to network conditions: up to 0.4"},
      {.section = "network",
       .name = "active_clients",
       .field = count(DFROST_AT(network.faults.active_clients), 0, fields::kMost),
       .comment = "clients that take part in a round, drawn anew each time; 0: all",
       .explanation = "The others keep their state, and neither train, send nor receive.",
       .paper = "§Experimental Results, Robustness to network conditions: 10 of 50"},
      {.section = "network",
       .name = "active_graph",
       .field = word(DFROST_AT(network.faults.active_graph), words({ActiveGraph::active, ActiveGraph::all})),
       .comment = "drawn over the active clients, or over all with the links of absent ones unused",
       .explanation =
           "active: where they are too few for network.degree, it is the largest possible; a static graph "
           "or one from a file loses the links of absent clients. all: with 10 of 50 active and degree 5, "
           "a client has 0.9 neighbours on average.",
       .paper = "not said; its consensus errors (fig. consensus_factors) lie where active has them"},
      {.section = "network",
       .name = "late_clients",
       .field = count(DFROST_AT(network.faults.late_clients), 0, fields::kMost),
       .comment = "clients that are not there before network.join_round, drawn once; 0: none",
       .explanation = "They come with first prompts of their own, whatever prompts.init says, and untrained. "
                      "What is shared before the first round they share too."},
      {.section = "network",
       .name = "join_round",
       .field = count(DFROST_AT(network.faults.join_round), 0, fields::kMost),
       .comment = "the first round of the late clients",
       .explanation = ""},
      {.section = "network",
       .name = "meet_round",
       .field = count(DFROST_AT(network.faults.meet_round), 0, fields::kMost),
       .comment =
           "before this round clients of even and odd numbers are two federations; 0: one from the start",
       .explanation = "Each draws its graphs among its own clients, with no link between the two. With "
                      "prompts.init = shared, each has first prompts that its own clients share."},
  };
}

}  // namespace

std::vector<ConfigKey> federation_keys() {
  std::vector<ConfigKey> all;
  for (const auto& keys : {run_keys(), backbone_keys(), data_keys(), partition_keys(), network_keys()})
    all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

}  // namespace dfrost::fields
