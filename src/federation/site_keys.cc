// The table of the keys of peer.toml.
#include <vector>

#include "federation/site_settings.h"

namespace dfrost {

std::span<const SiteKey> site_keys() {
  using S = SiteSettings;
  static const std::vector<SiteKey> keys = {
      {"name", &S::name, "what the federation calls this site", "As in the file that `peer init` wrote."},
      {"address", SiteAddress{&S::address, false}, "where the others reach it; empty: it dials them",
       "The others know the one in the federation file; a site behind NAT needs none, as long as those it "
       "talks to have one."},
      {"listen", SiteAddress{&S::listen, true}, "where it listens on this machine; empty: it only dials",
       "`0.0.0.0:7443` or `:7443`: on every address. Port 0 takes any that is free."},
      {"data", SitePath{&S::data, false}, "its pictures: a folder with one subfolder per class",
       "The subfolders' names must be among the federation's classes; it may lack some of those. Below "
       "`train/` and `test/` where it is split, else a fifth of each class is held out for scoring."},
      {"domain", &S::domain, "the domain that those classes are of; empty: found out by their names",
       "Needed only where two domains of the experiment have a class of one name."},
      {"partition", &S::partition,
       "take instead its share of the experiment's own data sets, as a simulation deals them",
       "For trying a federation out, and for comparing it with `dfrost run`: the share is the same."},
      {"data_root", SitePath{&S::data_root, false},
       "with partition: the folder that holds the data sets; empty: the data folder",
       "The data folder is $DFROST_DATA, else $XDG_DATA_HOME/dfrost/data, else ~/.local/share/dfrost/data."},
      {"backbone", SitePath{&S::backbone, true},
       "the frozen model: a file, a folder or a name; empty: by the name in the experiment",
       "Whatever it is called here, its weights must have the federation's fingerprint."},
      {"threads", SiteCount{&S::threads, 4096}, "cores to train on; 0: all",
       "Changes the time a round takes and nothing else."},
      {"heartbeat_seconds", SiteSeconds{&S::heartbeat_seconds, 0.01, 3600},
       "between two signs of life; three missed: gone", ""},
      {"patience_seconds", SiteSeconds{&S::patience_seconds, 0, 1e9},
       "longest wait for a neighbour that is alive",
       "One that is gone is not waited for; it takes part again when it is back."},
      {"min_present", SiteCount{&S::min_present, 4096},
       "members, itself included, that must be alive to begin a round; 0: none",
       "A site that is cut off then waits instead of going on nearly alone."},
      {"metrics", SiteAddress{&S::metrics, true}, "where Prometheus may read figures; empty: nowhere",
       "Anybody who reaches it may read: keep it on 127.0.0.1."},
  };
  return keys;
}

}  // namespace dfrost
