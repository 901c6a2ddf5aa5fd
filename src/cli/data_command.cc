#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/picture_arguments.h"
#include "data/catalog.h"
#include "data/image_file.h"
#include "data/statistics.h"
#include "dfrost/error.h"
#include "draw/contact_sheet.h"
#include "fetch/sources.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ListArguments {
  std::string root = default_data_root().string();
  bool json = false;
};

struct DataShowArguments {
  std::string name;
  std::string root = default_data_root().string();
  std::string path;
  std::string format;
  std::string sheet;
  std::string split = "train";
  std::string exif = "apply";
  std::string skipped;
  std::size_t columns = 12;
  bool json = false;
};

std::string how_to_get(const std::string& name) {
  const Source& source = find_source(dataset_sources(), name, "data set");
  if (!source.package && source.files.empty())
    return fmt::format("by hand, dfrost data get {} says how", name);
  const bool unverified =
      std::ranges::any_of(source.files, [](const auto& file) { return file.digest.hex.empty(); });
  return fmt::format("dfrost data get {}{}", name,
                     unverified && !source.package ? " --allow-unverified" : "");
}

// Of a set that is here, what is here; of any other, null. A file that cannot be made out counts as nothing
// and is named.
Json counts_on_disk(const DatasetLocation& location) {
  try {
    const auto counts = count_pictures(location);
    Json json = Json::object();
    for (const Split split : kSplits)
      json[std::string(to_string(split))] = counts[static_cast<std::size_t>(split)];
    return json;
  } catch (const Error& error) {
    return {{"train", nullptr}, {"val", nullptr}, {"test", nullptr}, {"error", error.what()}};
  }
}

Json list_entry(const DatasetInfo& info, const std::string& root) {
  const auto found = locate_dataset({.name = info.name}, root);
  Json entry = {{"name", info.name},
                {"title", info.title},
                {"classes", info.class_names.size()},
                {"train", nullptr},
                {"val", nullptr},
                {"test", nullptr},
                {"published", {{"train", info.train}, {"test", info.test}}},
                {"location", nullptr},
                {"format", nullptr}};
  if (!found) return entry;
  entry.update(counts_on_disk(*found));
  entry["location"] = found->path.string();
  entry["format"] = found->format;
  return entry;
}

std::string where(const Json& entry) {
  if (entry.at("location").is_null())
    return fmt::format("not here: {}", how_to_get(entry.at("name").get<std::string>()));
  const auto place =
      fmt::format("{} ({})", entry.at("location").get<std::string>(), entry.at("format").get<std::string>());
  return entry.contains("error") ? fmt::format("{}: {}", place, entry.at("error").get<std::string>()) : place;
}

void list(const ListArguments& arguments) {
  Json all = Json::array();
  for (const DatasetInfo& info : dataset_catalog()) all.push_back(list_entry(info, arguments.root));
  if (arguments.json) return print_json(all);
  fmt::print("{:<14} {:>7} {:>9} {:>9}  {}\n", "name", "classes", "train", "test", "where");
  for (const auto& entry : all) {
    // What is not here is counted as it was published, in brackets.
    const auto number = [&](const char* split) {
      if (entry.at("location").is_null())
        return fmt::format("({})", entry.at("published").at(split).get<int>());
      const auto& here = entry.at(split);
      return here.is_null() ? std::string("?") : fmt::format("{} ", here.get<std::size_t>());
    };
    fmt::print("{:<14} {:>7} {:>9} {:>9}  {}\n", entry.at("name").get<std::string>(),
               entry.at("classes").get<int>(), number("train"), number("test"), where(entry));
  }
}

// A name of the catalog, or a path of the user's own.
DomainSpec spec_of(const DataShowArguments& arguments) {
  DomainSpec spec{.name = arguments.name, .path = arguments.path, .format = arguments.format};
  if (spec.path.empty() && find_dataset_info(spec.name) == nullptr && fs::exists(spec.name)) {
    spec.path = spec.name;
    const auto whole = fs::absolute(spec.path).lexically_normal();
    spec.name =
        (whole.has_filename() ? whole : whole.parent_path()).filename().string();  // a slash at the end
  }
  return spec;
}

Json split_report(const Dataset& dataset, Split split, const ReadOptions& read) {
  const PictureSet& set = dataset[split];
  const auto statistics = channel_statistics(set, read);
  std::size_t widest = 0;
  std::size_t narrowest = set.records[0].width;
  for (const auto& record : set.records) {
    widest = std::max<std::size_t>(widest, record.width);
    narrowest = std::min<std::size_t>(narrowest, record.width);
  }
  return {{"pictures", set.size()},   {"width", {{"min", narrowest}, {"max", widest}}},
          {"grey", statistics.grey},  {"mean", statistics.mean},
          {"std", statistics.std},    {"per_class", count_classes(set.labels, dataset.class_names.size())},
          {"bytes", set.bytes.size()}};
}

Json skipped_files(const SkippedFiles& skipped) {
  Json all = Json::array();
  for (const auto& file : skipped.files) {
    all.push_back({{"file", file.path}, {"reason", file.reason}});
    if (!file.detail.empty()) all.back()["detail"] = file.detail;
  }
  return all;
}

void write_skipped(const std::string& path, const SkippedFiles& skipped) {
  std::string text;
  for (const auto& file : skipped.files) text += file.line() + "\n";
  write_file_atomically(path, text);
}

Json report(const Dataset& dataset, const ReadOptions& read) {
  Json splits = Json::object();
  for (const Split split : kSplits) {
    if (dataset[split].size() != 0)
      splits[std::string(to_string(split))] = split_report(dataset, split, read);
  }
  return {{"name", dataset.name},
          {"format", dataset.format},
          {"location", dataset.location.string()},
          {"class_names", dataset.class_names},
          {"splits", splits},
          {"skipped",
           {{"files", dataset.skipped.count()},
            {"reasons", dataset.skipped.reasons},
            {"examples", dataset.skipped.examples()},
            {"all", skipped_files(dataset.skipped)}}},
          {"notes", dataset.notes}};
}

void print_classes(const Json& r) {
  std::size_t width = 5;
  for (const auto& name : r.at("class_names")) width = std::max(width, name.get<std::string>().size());
  fmt::print("\n{:<{}}", "class", width);
  for (const auto& [split, values] : r.at("splits").items()) fmt::print(" {:>8}", split);
  fmt::print("\n");
  for (std::size_t c = 0; c < r.at("class_names").size(); ++c) {
    fmt::print("{:<{}}", r.at("class_names")[c].get<std::string>(), width);
    for (const auto& [split, values] : r.at("splits").items())
      fmt::print(" {:>8}", values.at("per_class")[c].get<std::size_t>());
    fmt::print("\n");
  }
}

void print_report(const Json& r) {
  fmt::print("{}: {}, read as {}\n", r.at("name").get<std::string>(), r.at("location").get<std::string>(),
             r.at("format").get<std::string>());
  for (const auto& [split, values] : r.at("splits").items()) {
    const auto numbers = [&values = values](const char* key) {
      const auto three = values.at(key).get<std::vector<double>>();
      return values.at("grey").get<bool>() ? fmt::format("{:.4f}", three[0])
                                           : fmt::format("{:.4f}", fmt::join(three, " "));
    };
    const auto least = values.at("width").at("min").get<std::size_t>();
    const auto most = values.at("width").at("max").get<std::size_t>();
    fmt::print("{:<6} {:>7} pictures, {} pixels wide, {}, mean {}, std {}\n", split,
               values.at("pictures").get<std::size_t>(),
               least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
               values.at("grey").get<bool>() ? "grey" : "colour", numbers("mean"), numbers("std"));
  }
  print_classes(r);
  for (const auto& note : r.at("notes")) fmt::print("note: {}\n", note.get<std::string>());
  const auto& skipped = r.at("skipped");
  if (skipped.at("files").get<std::size_t>() == 0) return;
  fmt::print("\nskipped {} files:\n", skipped.at("files").get<std::size_t>());
  for (const auto& [reason, count] : skipped.at("reasons").items())
    fmt::print("  {:>6} {}\n", count.get<std::size_t>(), reason);
  for (const auto& example : skipped.at("examples")) fmt::print("  such as {}\n", example.get<std::string>());
  const std::size_t more = skipped.at("files").get<std::size_t>() - skipped.at("examples").size();
  if (more > 0) fmt::print("  and {} more: --skipped FILE names them all\n", more);
}

Split parse_split(const std::string& name) {
  for (const Split split : kSplits) {
    if (to_string(split) == name) return split;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no split '{}'", name),
              "it is train, val or test");
}

void show_data(const DataShowArguments& arguments) {
  const Split split = parse_split(arguments.split);
  ThreadPool pool;
  const ReadOptions read{.pool = &pool, .exif = parse_exif(arguments.exif)};
  const Dataset dataset = open_dataset(spec_of(arguments), arguments.root, read);
  Json r = report(dataset, read);
  if (!arguments.sheet.empty()) {
    if (dataset[split].size() == 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} has no {} pictures", dataset.name, arguments.split),
                  "choose another split by --split");
    }
    const DatasetInfo* info = find_dataset_info(dataset.name);
    const std::string title =
        fmt::format("{}, {} pictures for {}", info != nullptr ? info->title : dataset.name,
                    dataset[split].size(), split == Split::train ? "training" : arguments.split);
    const Image sheet =
        contact_sheet(dataset[split], dataset.class_names, title, {.columns = arguments.columns});
    write_png(arguments.sheet, sheet.view());
    r["sheet"] = arguments.sheet;
  }
  if (!arguments.skipped.empty()) write_skipped(arguments.skipped, dataset.skipped);
  if (arguments.json) return print_json(r);
  print_report(r);
  if (!arguments.sheet.empty()) fmt::print("\nwrote {}\n", arguments.sheet);
}

void add_list_command(CLI::App& data) {
  auto* command = add_command(data, "list", "The data sets that dfrost knows, and where they are.",
                              {"dfrost data list", "dfrost data list --root /data --json"});
  auto arguments = std::make_shared<ListArguments>();
  command->add_option("--root", arguments->root, "The data folder")->capture_default_str();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { list(*arguments); });
}

void add_data_show_command(CLI::App& data) {
  auto* command = add_command(
      data, "show", "Read a data set: counts, mean and std per channel, what was skipped; a page of samples.",
      {"dfrost data show mnist --sheet mnist.png     a picture of samples with their labels",
       "dfrost data show ./my-pictures              your own: one subfolder per class",
       "dfrost data show list.csv --json            or a CSV of path,label"});
  auto arguments = std::make_shared<DataShowArguments>();
  command->add_option("name", arguments->name, "A name of 'dfrost data list', or a folder or CSV file")
      ->required();
  command->add_option("--root", arguments->root, "The data folder")->capture_default_str();
  command->add_option("--path", arguments->path, "Where it is, if not below the data folder");
  command->add_option("--format", arguments->format,
                      fmt::format("One of {}; found out if not given", fmt::join(format_names(), ", ")));
  add_exif_option(*command, arguments->exif);
  command->add_option("--skipped", arguments->skipped, "Write which files were left out and why, one a line");
  command->add_option("--sheet", arguments->sheet, "Write a contact sheet (PNG)");
  command->add_option("--split", arguments->split, "Of which split")->capture_default_str();
  command->add_option("--columns", arguments->columns, "Samples per class on the sheet")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { show_data(*arguments); });
}

}  // namespace

void add_data_commands(CLI::App& app) {
  auto* data = add_command(
      app, "data", "Get and look at data sets.",
      {"dfrost data get mnist cifar10", "dfrost data list", "dfrost data show mnist --sheet mnist.png"});
  data->require_subcommand(1);
  add_list_command(*data);
  add_data_show_command(*data);
  add_data_get_command(*data);
}

}  // namespace dfrost::cli
