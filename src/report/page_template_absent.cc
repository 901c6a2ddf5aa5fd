// Stands in for the bundled page in a build with -DDFROST_REPORT_PAGE=OFF.
#include "report/page_template.h"

namespace dfrost {

std::string_view page_template() { return {}; }

}  // namespace dfrost
