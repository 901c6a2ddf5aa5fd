// A page of samples of a data set, made to be looked at: a row per class with its name and its count,
// pictures drawn at random (fixed by the seed) beside it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/dataset.h"

namespace dfrost {

struct ContactSheetOptions {
  std::size_t columns = 12;   // samples per class
  std::size_t max_rows = 64;  // classes; the page says how many more there are
  Seed seed = 0;
};

Image contact_sheet(const PictureSet& set, const std::vector<std::string>& class_names,
                    const std::string& title, const ContactSheetOptions& options = {});

}  // namespace dfrost
