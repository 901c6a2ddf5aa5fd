#include "study/study_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"
#include "study/study_chart.h"
#include "study/study_targets.h"
#include "study/study_text.h"

namespace dfrost {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --back: #fdfdfc; --text: #1d2329; --pale: #5c6770; --rule: #d5dade; --agrees: #1a6b3c; --disagrees: #a3261f;
  --c0: #0b62a4; --c1: #b8530a; --c2: #1e7a45; --c3: #8e2a8b; --c4: #8a6d00; --c5: #b3123f; --c6: #2f6f7e; --c7: #4c4f57; }
@media (prefers-color-scheme: dark) { :root { --back: #15191d; --text: #e6e9ec; --pale: #9aa5ae; --rule: #39424a; --agrees: #6ccf94; --disagrees: #ff8a80;
  --c0: #6fb6ee; --c1: #ffa05c; --c2: #6ccf94; --c3: #dd8fdb; --c4: #d9bd4e; --c5: #ff7d9c; --c6: #7fc6d6; --c7: #b6bbc4; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 68rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 3rem; border-top: 2px solid var(--rule); padding-top: 1rem; } h3 { margin-top: 2rem; }
.scroll { overflow-x: auto; } .scroll:focus { outline: 2px solid var(--c0); }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--rule); padding: .3rem .6rem; text-align: right; vertical-align: top; }
th[scope=row], td.words, th.words { text-align: left; }
td { white-space: nowrap; } td.words { white-space: normal; } th[scope=row] { min-width: 8.5rem; } .claims th[scope=row] { min-width: 16rem; font-weight: normal; }
.reference, .pale, figcaption { color: var(--pale); font-size: .9em; } .reference { display: block; }
.agrees { color: var(--agrees); font-weight: 600; } .disagrees { color: var(--disagrees); font-weight: 600; }
.gap { border-left: 4px solid var(--disagrees); padding-left: .8rem; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
img.network { width: 17rem; height: auto; }
figure { margin: 1rem 0; max-width: 46rem; } svg.chart { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--text); }
.grid { stroke: var(--rule); } .line { fill: none; stroke-width: 2; } .band { stroke: none; opacity: .15; } .legend span { margin-right: 1.2rem; white-space: nowrap; }
)css";

// The same colour for a line, its band and its dots.
std::string colour_rules() {
  std::string rules;
  for (int i = 0; i < 8; ++i)
    rules += fmt::format(
        ".line.c{0} {{ stroke: var(--c{0}); }} .band.c{0}, .dot.c{0} {{ fill: var(--c{0}); }}\n", i);
  return rules;
}

std::string element(std::string_view name, std::string_view text, std::string_view attributes = {}) {
  return fmt::format("<{0}{1}>{2}</{0}>", name, attributes, escape_html(text));
}

std::string paragraph(std::string_view text, std::string_view attributes = {}) {
  return text.empty() ? std::string() : element("p", text, attributes) + "\n";
}

bool has_networks(const MadeTable& table) {
  return std::ranges::any_of(table.rows, [](const TableRow& row) { return row.network.has_value(); });
}

std::string head_row(const MadeTable& table) {
  std::string row = "<thead><tr>";
  if (has_networks(table)) row += element("th", "Network", " scope=\"col\" class=\"words\"");
  for (const auto& title : table.row_titles) row += element("th", title, " scope=\"col\" class=\"words\"");
  for (const auto& column : table.columns) row += element("th", heading_of(table, column), " scope=\"col\"");
  return row + "</tr></thead>\n";
}

std::string cell_html(const MadeTable& table, const TableCell& cell, const Figure& figure) {
  std::string html = "<td>" + escape_html(cell_text(cell, figure));
  if (cell.missing > 0 && cell.seeds > 0)
    html += element("span", fmt::format("{} of {} seeds", cell.seeds, cell.seeds + cell.missing),
                    " class=\"reference\"");
  if (cell.difference)
    html += element("span", difference_text(*cell.difference, reading_of(figure)), " class=\"reference\"");
  if (cell.reference)
    html += element("span",
                    fmt::format("{} {}", table.reference, show_number(*cell.reference, reading_of(figure))),
                    " class=\"reference\"");
  return html + "</td>";
}

std::string table_html(const MadeTable& table) {
  std::string html = element("h3", table.title) + "\n" + paragraph(table.about);
  html += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table id=\"{}\">\n{}<tbody>\n",
      escape_html(table.title), escape_html(table.name), head_row(table));
  for (const auto& row : table.rows) {
    html += "<tr>";
    if (has_networks(table))
      html += "<td class=\"words\">" +
              (row.network ? network_html(*row.network, row.labels.front()) : std::string()) + "</td>";
    for (const auto& label : row.labels) html += element("th", label, " scope=\"row\"");
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      html += cell_html(table, row.cells[c], *table.columns[c].figure);
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (!table.baseline.empty())
    html += paragraph(
        fmt::format("In brackets the 95 % interval of the mean paired difference to {}, seed by seed.",
                    table.baseline),
        " class=\"pale\"");
  return html;
}

std::string figure_html(const MadeChart& chart) {
  return fmt::format(
      "<figure id=\"{}\">{}\n{}\n{}<figcaption>Mean over seeds; the band is one standard deviation. Hold the "
      "pointer over a "
      "point to read it.</figcaption></figure>\n",
      escape_html(chart.name), element("h3", chart.title), paragraph(chart.about), chart_svg(chart));
}

std::string claims_html(const StudyResults& results) {
  if (results.study.claims.empty()) return {};
  std::string html = element("h3", "Claims") + "\n" + paragraph(kClaimRule, " class=\"pale\"");
  html +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Claims\"><table "
      "class=\"claims\"><thead><tr><th scope=\"col\" "
      "class=\"words\">Claim</th><th scope=\"col\" class=\"words\">Judgement</th><th scope=\"col\" "
      "class=\"words\">Mean paired "
      "difference, 95 % interval</th></tr></thead><tbody>\n";
  for (const auto& asked : results.study.claims) {
    const auto claim = judge_claim(results, asked);
    const bool told = claim.judgement != Judgement::cannot_tell;
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"words{}\">{}</td><td class=\"words\">{}</td></tr>\n",
        escape_html(claim.text), told ? fmt::format(" {}", to_string(claim.judgement)) : "",
        to_string(claim.judgement), escape_html(claim_text(claim)));
  }
  return html + "</tbody></table></div>\n";
}

std::string study_html(const StudyResults& results) {
  const auto& study = results.study;
  std::string html = fmt::format("<section id=\"study-{}\">\n", escape_html(study.name));
  html += element("h2", study.title) + "\n" + paragraph(study.about);
  if (!results.scale.empty())
    html += paragraph(fmt::format("Scale {}: {}", results.scale, results.scale_words), " class=\"scale\"");
  html += paragraph(seeds_text(results) + "; mean ± standard deviation over them.");
  html += "<p>" + element("code", results.command) + " " +
          element("span", fmt::format("({})", time_text(results)), " class=\"pale time\"") + "</p>\n";
  for (const auto& gap : gaps_of(results)) html += paragraph(gap, " class=\"gap\"");
  for (const auto& table : study.tables) html += table_html(make_table(results, table));
  for (const auto& target : study.targets) html += target_html(make_target(results, target));
  for (const auto& figure : study.figures) html += figure_html(make_chart(results, figure));
  html += claims_html(results);
  return html + "</section>\n";
}

}  // namespace

std::string study_page(std::span<const StudyResults> results, const std::string& title) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n{}\n<link rel=\"icon\" "
      "href=\"data:,\">\n<style>{}{}</style></head><body>\n",
      element("title", title), kStyle, colour_rules());
  html += element("h1", title) + "\n";
  if (results.size() > 1) {
    html += "<nav><ul>";
    for (const auto& one : results)
      html += fmt::format("<li><a href=\"#study-{}\">{}</a></li>", escape_html(one.study.name),
                          escape_html(one.study.title));
    html += "</ul></nav>\n";
  }
  for (const auto& one : results) html += study_html(one);
  return html + fmt::format("<p class=\"pale\">Made by dfrost {}.</p>\n</body></html>\n", version());
}

}  // namespace dfrost
