#include "peer/pictures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/quote.h"
#include "data/catalog.h"
#include "dfrost/error.h"
#include "run/federation_parts.h"
#include "run/opening.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

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

[[noreturn]] void refuse_class(const std::string& unknown, const std::vector<std::string>& found,
                               const std::vector<std::string>& classes, const fs::path& folder) {
  throw Error(ErrorCode::failed_precondition,
              fmt::format("{} is no class of the federation, or one of several domains; here are {}; the "
                          "federation has {}",
                          quote_name(unknown), fmt::join(found, ", "), fmt::join(classes, ", ")),
              "name the folders as the federation names its classes, below a folder of their domain where two "
              "domains have a class of that name")
      .at(folder.string());
}

// The one label of that name: "domain/class" or, where only one domain has it, "class".
int label_of(const std::string& name, const std::string& domain, const std::vector<std::string>& found,
             const std::vector<std::string>& classes, const fs::path& folder) {
  std::vector<std::size_t> fitting;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const std::string own = classes[label].substr(classes[label].find('/') + 1);
    const bool fits = domain.empty() ? own == name : classes[label] == domain + "/" + name;
    if (fits || classes[label] == name) fitting.push_back(label);
  }
  if (fitting.size() != 1) refuse_class(name, found, classes, folder);
  return static_cast<int>(fitting.front());
}

// The folders to read: one per domain of the federation, or the whole as it is.
std::vector<std::pair<std::string, fs::path>> folders_in(const fs::path& folder,
                                                         const std::vector<Domain>& domains) {
  std::vector<std::pair<std::string, fs::path>> found;
  for (const auto& domain : domains)
    if (!domain.name.empty() && fs::is_directory(folder / domain.name))
      found.emplace_back(domain.name, folder / domain.name);
  const auto is_class = [&](const std::string& name) {
    return std::ranges::any_of(domains, [&](const Domain& domain) {
      return std::ranges::find(domain.class_names, name) != domain.class_names.end();
    });
  };
  std::erase_if(found, [&](const auto& one) { return is_class(one.first); });
  if (found.empty()) found.emplace_back("", folder);
  return found;
}

// Pictures of a domain stand together in the pooled sets.
void add_pictures(const std::vector<std::pair<Dataset, std::vector<int>>>& read, Split split,
                  std::size_t Domain::* first, std::size_t Domain::* count, std::vector<Domain>& domains,
                  PictureSet& into) {
  for (auto& domain : domains) {
    domain.*first = into.size();
    const int end = domain.first_class + static_cast<int>(domain.class_names.size());
    for (const auto& [dataset, labels] : read) {
      const PictureSet& set = dataset[split];
      for (std::size_t i = 0; i < set.size(); ++i) {
        const int label = labels[static_cast<std::size_t>(set.labels[i])];
        if (label >= domain.first_class && label < end) append_picture(into, set, i, label);
      }
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

SitePictures own_pictures(const fs::path& folder, const std::vector<std::string>& classes, ClientId self,
                          std::size_t members, RunNotes& notes) {
  SitePictures pictures;
  auto& domains = pictures.corpus.domains;
  domains = domains_of(classes);
  std::vector<std::pair<Dataset, std::vector<int>>> read;
  for (const auto& [domain, path] : folders_in(folder, domains)) {
    Dataset dataset = open_dataset({.name = domain.empty() ? "own" : domain, .path = path}, {});
    for (const auto& note : dataset.notes) notes.on_note(path.filename().string() + ": " + note);
    if (dataset.skipped.count() > 0)
      notes.on_note(fmt::format("{}: {} files skipped", path.filename().string(), dataset.skipped.count()));
    std::vector<int> labels;
    for (const auto& name : dataset.class_names)
      labels.push_back(label_of(name, domain, dataset.class_names, classes, path));
    read.emplace_back(std::move(dataset), std::move(labels));
  }
  add_pictures(read, Split::train, &Domain::first_train, &Domain::train_count, domains, pictures.corpus.train);
  add_pictures(read, Split::test, &Domain::first_test, &Domain::test_count, domains, pictures.corpus.test);
  if (pictures.corpus.train.size() == 0)
    throw Error(ErrorCode::failed_precondition, "there are no pictures to train on",
                "one folder per class, directly below the folder or below train/ and test/")
        .at(folder.string());
  pictures.partition.clients.resize(std::max<std::size_t>(members, self + 1));
  auto& own = pictures.partition.clients[self];
  for (std::size_t i = 0; i < pictures.corpus.train.size(); ++i) own.push_back(i);
  return pictures;
}

}  // namespace dfrost
