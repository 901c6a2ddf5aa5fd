// What the tests share: temporary folders, the oracles' Python, and the real data that lies beside a
// developer's checkout.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "dfrost/error.h"

namespace dfrost::test {

// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Runs a Python script below tests/ with the interpreter that has the oracles; fails the test with its output
// if it does not exit with 0. Arguments are passed through a shell: quote what needs it.
void run_python(const std::string& script, const std::string& arguments);

// Runs a shell command; returns its exit code, and its stdout and stderr together.
struct CommandResult {
  int exit_code = -1;
  std::string output;
};
CommandResult run_command(const std::string& command);

// ../shared/data beside the checkout (or $DFROST_SHARED_DATA), where developers keep real data and
// checkpoints. Empty where there is none: then skip, loudly, through SKIP_WITHOUT_SHARED_DATA.
std::filesystem::path shared_data();

#define SKIP_WITHOUT_SHARED_DATA(name)                                  \
  if (::dfrost::test::shared_data().empty() ||                          \
      !std::filesystem::exists(::dfrost::test::shared_data() / (name))) \
  GTEST_SKIP() << "SKIPPED: needs the real data in ../shared/data/" << (name) << ", absent here"

// Expects a dfrost::Error whose code is `expected` and whose message or place contains `text`.
template <typename Body>
void expect_error(ErrorCode expected, const std::string& text, const Body& body) {
  try {
    body();
    ADD_FAILURE() << "expected an error about '" << text << "', got none";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    const std::string all = std::string(error.what()) + "\n" + error.place() + "\n" + error.hint();
    EXPECT_NE(all.find(text), std::string::npos) << "'" << text << "' not in: " << all;
  }
}

}  // namespace dfrost::test
