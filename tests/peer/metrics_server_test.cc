// What Prometheus reads of a site, over HTTP: its form, line by line, and that it may be read while the site
// goes on.
#include "peer/metrics_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "peer/company.h"
#include "support/support.h"

namespace dfrost {
namespace {

// The whole answer, head and body.
std::string fetch(int port, const std::string& path) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
    ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket, bytes, sizeof bytes, 0)) > 0;)
      answer.append(bytes, static_cast<std::size_t>(count));
  }
  ::close(socket);
  return answer;
}

std::string body_of(const std::string& answer) {
  const auto head = answer.find("\r\n\r\n");
  return head == std::string::npos ? "" : answer.substr(head + 4);
}

// A site in the middle of its work, with every family filled.
PeerStatus busy_status() {
  PeerStatus status;
  status.name = "clinic-a";
  status.federation = "five";
  status.version = "1.0";
  status.rounds = 40;
  status.done = 6;
  status.round = 7;
  status.stage = "exchange";
  status.last_merge = 1100.25;
  status.merges = 6;
  status.stage_seconds = {{"train", 90.5}, {"exchange", 1e-7}};
  status.sent_bytes = 123'456'789'012;
  status.strangers = {{"no_certificate", 3}, {"not_tls", 1}};
  for (const std::string name : {"plain", "a \"quoted\" name", "back\\slash", "two\nlines", "ünïcode"}) {
    MemberStatus member;
    member.number = static_cast<ClientId>(status.members.size() + 1);
    member.name = name;
    member.alive = true;
    if (status.members.empty()) member.round = 6;
    status.members.push_back(member);
  }
  return status;
}

// Prometheus' text format, version 0.0.4, as its page describes it.
void expect_well_formed(const std::string& text) {
  ASSERT_TRUE(text.ends_with('\n'));
  const std::regex help("# HELP (dfrost_[a-z_]+) .+\\."), type("# TYPE (dfrost_[a-z_]+) (gauge|counter)");
  const std::string label = R"([a-z_]+="(?:[^"\\]|\\["\\n])*")";
  const std::regex sample("(dfrost_[a-z_]+)(?:\\{(" + label + "(?:," + label + ")*)\\})? (\\S+)");
  std::map<std::string, std::string> types;
  std::set<std::string> series;
  std::string family;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      family = found[1];
      EXPECT_FALSE(types.contains(family)) << "twice: " << family;
    } else if (std::regex_match(line, found, type)) {
      EXPECT_EQ(found[1], family) << line;
      types[family] = found[2];
      EXPECT_EQ(family.ends_with("_total"), found[2] == "counter") << line;
    } else if (std::regex_match(line, found, sample)) {
      EXPECT_EQ(found[1], family) << "a sample outside of its family: " << line;
      EXPECT_TRUE(types.contains(family)) << line;
      EXPECT_TRUE(series.insert(found[1].str() + "{" + found[2].str()).second) << "twice: " << line;
      std::size_t used = 0;
      EXPECT_NO_THROW(static_cast<void>(std::stod(found[3], &used))) << line;
      EXPECT_EQ(used, found[3].str().size()) << line;
    } else {
      ADD_FAILURE() << "no line of the format: " << line;
    }
  }
  EXPECT_GE(types.size(), 15u);
}

TEST(Metrics, AreLineByLineOfTheFormThatPrometheusReads) {
  expect_well_formed(metrics_text(busy_status()));
  expect_well_formed(metrics_text(PeerStatus{}));  // before anything happened
}

TEST(Metrics, AreAcceptedByPromtool) {
  if (test::run_command("command -v promtool").exit_code != 0)
    GTEST_SKIP() << "SKIPPED: needs promtool on the PATH (Debian: prometheus), absent here";
  const test::TemporaryFolder folder;
  for (const auto& status : {busy_status(), PeerStatus{}}) {
    std::ofstream(folder / "metrics.txt") << metrics_text(status);
    const auto verdict =
        test::run_command("promtool check metrics <" + (folder / "metrics.txt").string() + " 2>&1");
    EXPECT_EQ(verdict.exit_code, 0) << verdict.output;
    EXPECT_EQ(verdict.output, "");
  }
}

TEST(MetricsServer, AnswersWithTheLastStatusWhileTheSiteGoesOn) {
  MetricsServer server("127.0.0.1:0");
  std::thread site([&] {
    auto status = busy_status();
    for (std::uint64_t round = 1; round <= 200; ++round) {
      status.round = round;
      server.show(status);
    }
  });
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(fetch(server.port(), "/metrics").starts_with("HTTP/1.1 200 ")) << i;
  site.join();
  const auto text = body_of(fetch(server.port(), "/metrics"));
  EXPECT_NE(text.find("\ndfrost_round 200\n"), std::string::npos) << text;
  expect_well_formed(text);
  EXPECT_TRUE(fetch(server.port(), "/health").starts_with("HTTP/1.1 503 "));  // it merged in 1970
  EXPECT_TRUE(fetch(server.port(), "/").starts_with("HTTP/1.1 404 "));
}

}  // namespace
}  // namespace dfrost
