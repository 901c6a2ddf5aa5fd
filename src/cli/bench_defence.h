// `dfrost bench merge --defence`: what each part of [defence] costs at the paper's size.
#pragma once

#include <nlohmann/json.hpp>

namespace dfrost::cli {

// One row a defence: its name, and milliseconds on one core; `seconds`: how long each is measured.
nlohmann::ordered_json bench_defences(double seconds);

}  // namespace dfrost::cli
