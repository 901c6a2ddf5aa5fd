// What everything that runs long shows and hears: a line that is drawn over itself, and the signals that ask
// it to end.
#pragma once

#include <string>

namespace dfrost::cli {

// From now on Ctrl-C, what a batch system sends before it kills, and the end of the terminal are noted; the
// second of them ends the process as usual.
void listen_to_signals();
bool was_interrupted();

// "12 s", "3:05 min", "1:20 h"
std::string duration(double seconds);

// Draws a line over the one before, on a terminal's stderr, cut off at its edge.
void draw_over(std::string text);

// The argument as a shell takes it, in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace dfrost::cli
