// The document that the page shows (docs/reference/report-data.md): runs as they were recorded, and the
// groups they form; and the page itself, with the document in it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/run_reader.h"

namespace dfrost {

struct DocumentOptions {
  bool live = false;  // the page listens for more
  // All runs' merges together; where they are more, rounds are left out evenly, never the last.
  std::size_t merge_bytes = 400'000;
};

Json report_document(std::span<const RunRecords> runs, const DocumentOptions& options = {});

// Throws (failed_precondition) where dfrost was built without the page.
void require_page();

// The page with the document in it: self-contained, opens from disk. Throws as require_page().
std::string report_page(const Json& document);

// JSON whose text can stand in a <script> element: nothing in it can end the element. Bytes that are not
// UTF-8 become U+FFFD.
std::string script_safe(const Json& document);

}  // namespace dfrost
