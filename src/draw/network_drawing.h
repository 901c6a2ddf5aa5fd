// A round's network as a picture: an SVG with clients as numbered dots and links between them, failed links
// dashed, absent clients hollow. Clients stand on a circle, or on the cells of their grid. Readable on light
// and on dark pages. The same network gives the same text.
#pragma once

#include <string>

#include "network/faults.h"
#include "network/topology.h"

namespace dfrost {

struct DrawingText {
  std::string title;
  std::string subtitle;
};

// Throws (invalid_argument) above 100,000 links, of which a picture would show nothing.
std::string draw_svg(const RoundNetwork& network, const Placement& placement, const DrawingText& text);

}  // namespace dfrost
