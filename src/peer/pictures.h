// What a site trains on and is scored with: its share of the experiment's own data sets, as the simulator
// deals them, or pictures of its own, sorted into the federation's classes.
#pragma once

#include "config/config.h"
#include "data/corpus.h"
#include "federation/site.h"
#include "partition/partition.h"
#include "run/run_notes.h"

namespace dfrost {

struct SitePictures {
  Corpus corpus;
  // Of all members by number. With pictures of its own a site knows nothing of the others': they have none.
  Partition partition;
};

// The experiment's data sets, dealt to all clients; this member's share must be among them.
SitePictures share_of_experiment(const RunConfig& config, ClientId self, std::size_t members,
                                 RunNotes& notes);

// A folder with one folder per class, or any other layout that dfrost reads. Throws (failed_precondition) for
// a class that the federation has not, with both lists. A fifth of the pictures is held out where the folder
// has no test pictures of its own.
SitePictures own_pictures(const Site& site, RunNotes& notes);

// What the site's peer.toml asks for.
SitePictures open_site_pictures(const Site& site, RunNotes& notes);

}  // namespace dfrost
