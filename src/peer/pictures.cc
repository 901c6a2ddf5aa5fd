#include "peer/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/catalog.h"
#include "dfrost/error.h"
#include "federation/site_data.h"
#include "run/federation_parts.h"
#include "run/opening.h"

namespace dfrost {
namespace {

// The federation's domains, as yet without pictures.
std::vector<Domain> domains_of(const std::vector<std::string>& classes) {
  std::vector<Domain> domains;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const auto slash = classes[label].find('/');
    const std::string domain = slash == std::string::npos ? "" : classes[label].substr(0, slash);
    if (domains.empty() || domains.back().name != domain) {
      domains.emplace_back();
      domains.back().name = domain;
      domains.back().first_class = static_cast<int>(label);
    }
    domains.back().class_names.push_back(classes[label].substr(slash + 1));
  }
  return domains;
}

// Pictures of a domain stand together in the pooled sets.
// `labels`: the federation's, of each of the set's classes.
void add_pictures(const PictureSet& set, const std::vector<int>& labels, std::size_t Domain::*first,
                  std::size_t Domain::*count, std::vector<Domain>& domains, PictureSet& into) {
  for (auto& domain : domains) {
    domain.*first = into.size();
    const int end = domain.first_class + static_cast<int>(domain.class_names.size());
    for (std::size_t i = 0; i < set.size(); ++i) {
      const int label = labels[static_cast<std::size_t>(set.labels[i])];
      if (label >= domain.first_class && label < end) append_picture(into, set, i, label);
    }
    domain.*count = into.size() - domain.*first;
  }
}

}  // namespace

SitePictures share_of_experiment(const RunConfig& config, ClientId self, std::size_t members,
                                 RunNotes& notes) {
  SitePictures pictures;
  pictures.corpus = open_pictures(config, notes);
  pictures.partition = partition_for(config, pictures.corpus);
  if (self >= pictures.partition.clients.size())
    throw Error(ErrorCode::failed_precondition,
                fmt::format("the experiment deals its pictures to {} clients, and this member has number {}: "
                            "there is no share for it",
                            pictures.partition.clients.size(), self),
                "give the site pictures of its own by 'data' in peer.toml");
  pictures.partition.clients.resize(std::max(members, pictures.partition.clients.size()));
  pictures.partition.names.clear();
  return pictures;
}

SitePictures own_pictures(const Site& site, RunNotes& notes) {
  const Federation& federation = site.joined();
  const auto& folder = site.settings.data;
  const std::string domain = site.settings.domain;
  const Dataset dataset = open_dataset({.name = domain.empty() ? "own" : domain, .path = folder}, {});
  for (const auto& note : dataset.notes) notes.on_note(note);
  if (dataset.skipped.count() > 0)
    notes.on_note(fmt::format("{}: {} files skipped", folder.string(), dataset.skipped.count()));
  SitePictures pictures;
  auto& corpus = pictures.corpus;
  corpus.domains = domains_of(federation.classes);
  std::vector<int> labels;
  try {
    labels = match_classes(dataset.class_names, federation.classes, domain).labels;
  } catch (Error& error) {
    throw error.at(folder.string());
  }
  add_pictures(dataset[Split::train], labels, &Domain::first_train, &Domain::train_count, corpus.domains,
               corpus.train);
  add_pictures(dataset[Split::test], labels, &Domain::first_test, &Domain::test_count, corpus.domains,
               corpus.test);
  if (corpus.train.size() == 0)
    throw Error(ErrorCode::failed_precondition, "there are no pictures to train on",
                "one folder per class, directly below the folder or below train/ and test/")
        .at(folder.string());
  pictures.partition.clients.resize(federation.members.size());
  for (const auto& member : federation.members) pictures.partition.names.push_back(member.name);
  auto& own = pictures.partition.clients[site.number()];
  for (std::size_t i = 0; i < corpus.train.size(); ++i) own.push_back(i);
  return pictures;
}

SitePictures open_site_pictures(const Site& site, RunNotes& notes) {
  if (site.settings.partition) {
    auto pictures = share_of_experiment(site.config(), site.number(), site.joined().members.size(), notes);
    for (const auto& member : site.joined().members) pictures.partition.names.push_back(member.name);
    pictures.partition.names.resize(pictures.partition.clients.size());
    return pictures;
  }
  if (site.settings.data.empty())
    throw Error(ErrorCode::failed_precondition, "the site has no pictures",
                "say in peer.toml where they are, by 'data', or take a share of the experiment's by "
                "'partition = true'")
        .at(settings_file(site.folder).string());
  return own_pictures(site, notes);
}

}  // namespace dfrost
