// What is a site's own, in its peer.toml. Each key is declared once, in a table: reading, checking, the
// commented file that `dfrost peer init` writes, "did you mean" and the reference page follow from it. A
// plain value; a default-made one is what an empty file means.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace dfrost {

struct SiteSettings {
  std::string name = {};                 // as the federation calls it
  std::string address = {};              // where others reach it, "host:port"; empty: it only dials
  std::string listen = {};               // "0.0.0.0:7443"; empty: it only dials
  std::filesystem::path data = {};       // a folder of pictures, one subfolder per class
  std::string domain = {};               // whose classes those are; empty: found out by their names
  bool partition = false;                // instead of `data`: its share of the experiment's own data sets
  std::filesystem::path data_root = {};  // where those lie; empty: the data folder
  std::filesystem::path backbone = {};   // the frozen model's file; empty: by the experiment's name for it
  std::size_t threads = 0;               // 0: one per core
  double heartbeat_seconds = 5;          // three missed: gone
  double patience_seconds = 3600;        // longest wait for a neighbour that is alive
  std::size_t min_present = 0;           // members, itself included, that must be alive to begin a round
  std::string metrics = {};              // "127.0.0.1:9464": Prometheus text there; empty: nowhere
};

template <typename T>
using SitePlace = T SiteSettings::*;
struct SiteCount {
  SitePlace<std::size_t> place;
  std::size_t most = 0;
};
struct SiteSeconds {
  SitePlace<double> place;
  double least = 0, most = 0;
};
struct SiteAddress {
  SitePlace<std::string> place;
  bool listens = false;  // host may be missing, port 0
};
struct SitePath {
  SitePlace<std::filesystem::path> place;
  bool may_be_name = false;
};
using SiteField =
    std::variant<SitePlace<bool>, SitePlace<std::string>, SiteCount, SiteSeconds, SiteAddress, SitePath>;

struct SiteKey {
  std::string name;
  SiteField field;
  std::string comment;      // one line, for the file
  std::string explanation;  // for the reference page; may be empty
};

// In the order in which a file is written.
std::span<const SiteKey> site_keys();
std::string describe_values(const SiteField& field);
std::string toml_value(const SiteKey& key, const SiteSettings& settings);

// Throws (invalid_argument, data_loss for what is no TOML) at `place` and line. Relative paths count from
// `folder`. The result is valid.
SiteSettings parse_site_settings(std::string_view text, const std::string& place,
                                 const std::filesystem::path& folder);
// A commented file; keys at their defaults are commented out.
std::string to_toml(const SiteSettings& settings);

// docs/reference/peer.md.
std::string site_reference_page();

}  // namespace dfrost
