// `dfrost watch`: the report of a run under way, live in the browser.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "report/watch_server.h"

namespace dfrost::cli {
namespace {

// What a signal's handler may touch is what needs no lock.
std::atomic<bool> asked_to_stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void note_stop(int) { asked_to_stop = true; }

struct WatchArguments {
  std::string run;
  WatchOptions options;
};

void watch(const WatchArguments& arguments) {
  WatchServer server(arguments.run, arguments.options);
  std::signal(SIGINT, note_stop);
  std::signal(SIGTERM, note_stop);
  const std::string& host = arguments.options.host;
  const bool six = host.find(':') != std::string::npos;
  fmt::print("http://{}{}{}:{}/\n", six ? "[" : "", host, six ? "]" : "", server.port());
  std::fflush(stdout);
  if (host != "127.0.0.1" && host != "::1" && host != "localhost") {
    fmt::print(stderr, "note: whoever reaches this machine can read the run\n");
  }
  fmt::print(stderr, "watching {}; Ctrl-C ends it\n", arguments.run);
  server.serve_until([] { return asked_to_stop.load(); });
}

}  // namespace

void add_watch_command(CLI::App& app) {
  auto* command = add_command(
      app, "watch", "Show a run in the browser while it goes on.",
      {"dfrost watch runs/demo              then open the address that it prints",
       "dfrost watch runs/demo --port 0     on any port that is free",
       "dfrost watch site                   a site of a federation, and the others as it sees them"});
  auto arguments = std::make_shared<WatchArguments>();
  command->add_option("run", arguments->run, "The folder of a run, which may be yet to come, or of a site")
      ->required();
  command->add_option("--port", arguments->options.port, "0: any that is free")
      ->check(CLI::Range(0, 65'535))
      ->capture_default_str();
  command->add_option("--host", arguments->options.host, "The address to listen on")->capture_default_str();
  command->callback([arguments] { watch(*arguments); });
}

}  // namespace dfrost::cli
