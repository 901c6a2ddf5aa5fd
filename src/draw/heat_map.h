// The picture of a partition: a row per client, a column per class, the darker the more pictures. Domains are
// set apart, so that one sees at a glance who holds what and how uneven it is.
#pragma once

#include <string>

#include "data/corpus.h"
#include "dfrost/image.h"
#include "partition/partition.h"

namespace dfrost {

Image partition_heat_map(const Partition& partition, const Corpus& corpus, const std::string& title);

}  // namespace dfrost
