#include "cli/app.h"

// NOLINTNEXTLINE(bugprone-exception-escape): declaring the commands throws only if two have one name
int main(int argc, char** argv) { return dfrost::cli::run_dfrost(argc, argv); }
