#include "report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/version.h"
#include "dfrost/error.h"
#include "records/figure_reference.h"
#include "report/groups.h"
#include "report/page_template.h"

namespace dfrost {
namespace {

constexpr int kDocumentSchema = 1;

std::uint64_t round_of(const Json& record) { return record["round"].get<std::uint64_t>(); }

// Those of every stride-th round counted from the last, so that they fit.
Json thinned_merges(std::span<const Json> merges, std::size_t limit_bytes) {
  std::set<std::uint64_t> distinct;
  std::size_t bytes = 0;
  for (const auto& merge : merges) {
    distinct.insert(round_of(merge));
    bytes += script_safe(merge).size();
  }
  const std::size_t stride =
      std::max<std::size_t>(1, (bytes + limit_bytes - 1) / std::max<std::size_t>(limit_bytes, 1));
  std::set<std::uint64_t> kept;
  std::size_t place = 0;
  for (auto round = distinct.rbegin(); round != distinct.rend(); ++round, ++place) {
    if (place % stride == 0) kept.insert(*round);
  }
  Json json = Json::array();
  for (const auto& merge : merges) {
    if (kept.contains(round_of(merge))) json.push_back(merge);
  }
  return json;
}

Json run_json(const RunRecords& run, std::size_t merge_bytes) {
  return {{"name", run.name},
          {"folder", run.folder},
          {"problems", run.problems},
          {"summary", run.summary},
          {"about", run.about},
          {"peer", run.peer},
          {"rounds", run.rounds},
          {"planned_rounds", run.planned_rounds ? Json(*run.planned_rounds) : Json()},
          {"merges", thinned_merges(run.merges, merge_bytes)},
          {"config", run.config ? Json(*run.config) : Json()},
          {"paper", to_json(paper_figure(run))}};
}

}  // namespace

Json report_document(std::span<const RunRecords> runs, const DocumentOptions& options) {
  Json list = Json::array();
  for (const auto& run : runs) list.push_back(run_json(run, options.merge_bytes / runs.size()));
  Json groups = Json::array();
  for (const auto& group : group_runs(runs)) groups.push_back(to_json(group));
  return {{"schema", kDocumentSchema},
          {"generator", fmt::format("dfrost {}", version())},
          {"live", options.live},
          {"title", runs.size() == 1 ? runs.front().name : fmt::format("{} runs", runs.size())},
          {"figures", figures_json()},
          {"runs", list},
          {"groups", groups}};
}

std::string script_safe(const Json& document) {
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size() + text.size() / 64);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    // These stand only inside strings, where an escape means the same.
    if (text[i] == '<' || text[i] == '>' || text[i] == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(text[i]));
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      safe += rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

void require_page() {
  if (!page_template().empty()) return;
  throw Error(ErrorCode::failed_precondition, "this dfrost was built without the report's page",
              "build it with -DDFROST_REPORT_PAGE=ON, which needs Node.js and npm; 'dfrost compare' and "
              "'dfrost export' need no page");
}

std::string report_page(const Json& document) {
  require_page();
  const std::string_view page = page_template();
  const auto place = page.find(kPageDataMarker);
  std::string filled(page.substr(0, place));
  filled += script_safe(document);
  filled += page.substr(place + kPageDataMarker.size());
  return filled;
}

}  // namespace dfrost
