// The part of an experiment's TOML file that says what data there is and who holds it: run.seed, [data] and
// [partition]. Other sections are not looked at. A key of these three that is not known is an error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/pool.h"
#include "partition/partition.h"

namespace dfrost::cli {

struct DataConfig {
  PoolOptions pool;  // its seed is the partition's too
  PartitionOptions partition;
};

// Relative paths in it are relative to `folder`. `place` names the text in errors, which add the line.
DataConfig parse_data_config(std::string_view text, const std::string& place,
                             const std::filesystem::path& folder);
DataConfig read_data_config(const std::filesystem::path& path);

}  // namespace dfrost::cli
