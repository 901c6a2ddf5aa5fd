// A study's tables as text: Markdown for people, LaTeX for papers, CSV for programs.
#pragma once

#include <span>
#include <string>

#include "study/study_tables.h"

namespace dfrost {

// Everything that the page says, without its figures: title, what was reduced, command, tables, claims.
std::string study_markdown(const StudyResults& results);

// \begin{tabular} … of one table, with the names of its axes and figures.
std::string table_latex(const MadeTable& table);

// One line a cell: its labels, its figure's name, mean, std and seeds, difference with its interval,
// reference.
std::string table_csv(const MadeTable& table);

// "23.20 ± 1.00", "23.20" of one seed, "-" where the combination is there and no run, "" where it is not.
std::string cell_text(const TableCell& cell, const Figure& figure, const char* plus_minus = " ± ");
// "+3.10 [+1.20, +5.00]"
std::string difference_text(const PairedDifference& difference, const Reading& reading);
// Of a column: "Dirichlet 0.1: Accuracy, masked, %"; what is the same in all columns is left to the title.
std::string heading_of(const MadeTable& table, const TableColumn& column);
// "worth 3 seeds: 1.20 % [0.80, 1.60]"
std::string claim_text(const JudgedClaim& claim);
// A field of a line of CSV, in quotes where it needs them.
std::string csv_field(const std::string& text);
// The rule by which claims are judged.
extern const char* const kClaimRule;
// "dfrost study …" took so long, of so many runs.
std::string time_text(const StudyResults& results);
// What is not there, for people; empty where everything is.
std::vector<std::string> gaps_of(const StudyResults& results);
std::string seeds_text(const StudyResults& results);

}  // namespace dfrost
