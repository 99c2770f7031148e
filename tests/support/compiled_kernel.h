// Kernels that tests write as text, compiled as the evaluator compiles them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>

#include "dsl/cpp.h"
#include "dsl/session.h"

namespace kw::testing {

inline sandbox::Mode sandbox_mode() {
  const auto mode = sandbox::choose_mode(false);
  EXPECT_TRUE(mode.ok()) << (mode.ok() ? "" : mode.error().message);
  return mode.ok() ? *mode : sandbox::Mode::none;
}

// The object lives as long as this.
struct BuiltKernel {
  TempFolder folder = std::move(TempFolder::make("kw-kernel")).value();
  CompileOutcome outcome;
};

inline BuiltKernel build(const ProblemDescription& problem, const std::string& text, CompileOptions options = {},
                         std::map<std::string, std::string> knobs = {}) {
  BuiltKernel built;
  options.mode = sandbox_mode();
  auto outcome = compile_cpp(problem, {"mine.cpp", text, std::move(knobs)}, built.folder.path(), options);
  EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
  if (outcome.ok()) built.outcome = *outcome;
  return built;
}

// Fills a session's argument with values of one type.
template <typename T>
void fill(Session& session, std::size_t argument, int slot, const std::vector<T>& values) {
  const auto to = session.contents(argument, slot);
  ASSERT_EQ(to.size(), values.size() * sizeof(T));
  std::memcpy(to.data(), values.data(), to.size());
}

template <typename T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace kw::testing
