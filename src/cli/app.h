// The whole executable: its name, its version, and its commands in the order that --help lists them.
#pragma once

namespace dfrost::cli {

// Parses and runs one command line; returns the exit code.
int run_dfrost(int argc, const char* const* argv);

}  // namespace dfrost::cli
