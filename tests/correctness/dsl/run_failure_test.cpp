#include "dsl/run_failure.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <csignal>

namespace kw {
namespace {

constexpr std::uint64_t kInput = 0x10000000, kOutput = 0x20000000, kSecondOutput = 0x30000000;

runner::Spec spec() {
  runner::Spec spec;
  spec.arguments = {{"x", runner::Role::input, 4000, 4096, 96, 0},
                    {"w", runner::Role::weight, 64, 4096, 0, 0},
                    {"out", runner::Role::output, 8192, 8192, 0, 0}};
  return spec;
}
const RegionAddresses kRegions{{kInput}, {0x18000000}, {kOutput, kSecondOutput}};

RunFailure crash(int signal, std::uint64_t address, const std::string& errors = "", Json more = Json::object()) {
  more.update({{"signal", signal}, {"address", address}, {"pc", 0x1234}});
  return failure_from_crash(more, spec(), kRegions, "run", errors);
}

TEST(PlaceOfAddress, CountsBytesFromTheDataNotFromTheRegion) {
  EXPECT_EQ(place_of_address(kInput + 96 + 4000 + 16, spec(), kRegions), "input 'x', 16 bytes past its end");
  EXPECT_EQ(place_of_address(kInput + 96 - 4, spec(), kRegions), "input 'x', 4 bytes before its beginning");
  EXPECT_EQ(place_of_address(kInput + 96, spec(), kRegions), "input 'x', 0 bytes into it");
  EXPECT_EQ(place_of_address(kSecondOutput + 8192, spec(), kRegions), "output 'out', 0 bytes past its end");
  EXPECT_EQ(place_of_address(0x18000000 + 8, spec(), kRegions), "parameter 'w', 8 bytes into it");
}

TEST(PlaceOfAddress, GuardsBelongToTheirBufferAndNothingElseDoes) {
  EXPECT_EQ(place_of_address(kOutput - runner::kGuardBytes, spec(), kRegions), "output 'out', 262144 bytes before its beginning");
  EXPECT_EQ(place_of_address(kOutput - runner::kGuardBytes - 1, spec(), kRegions), "");
  EXPECT_EQ(place_of_address(kOutput + 8192 + runner::kGuardBytes, spec(), kRegions), "");
  EXPECT_EQ(place_of_address(0, spec(), kRegions), "");
}

TEST(PlaceOfAddress, ARunnerThatToldFewerRegionsIsNoHarm) { EXPECT_EQ(place_of_address(kOutput, spec(), {{kInput}}), ""); }

TEST(FailureFromCrash, OutOfBoundsNamesTheBuffer) {
  const auto failure = crash(SIGSEGV, kOutput + 8192);
  EXPECT_EQ(failure.verdict, Verdict::crashed);
  EXPECT_EQ(failure.diagnosis.place, "output 'out', 0 bytes past its end");
  EXPECT_NE(failure.diagnosis.summary.find("out of bounds"), std::string::npos);
  EXPECT_EQ(failure.program_counter, 0x1234u);
}

TEST(FailureFromCrash, WritingToAnInputIsToldAsThat) {
  EXPECT_EQ(crash(SIGSEGV, kInput + 200).diagnosis.summary, "the kernel wrote to input 'x'");
  EXPECT_NE(crash(SIGSEGV, kInput + 200).diagnosis.hint.find("read-only"), std::string::npos);
}

TEST(FailureFromCrash, EverySignalHasItsExplanation) {
  EXPECT_NE(crash(SIGSEGV, 8).diagnosis.summary.find("null pointer"), std::string::npos);
  EXPECT_NE(crash(SIGFPE, 0).diagnosis.hint.find("division"), std::string::npos);
  EXPECT_NE(crash(SIGILL, 0).diagnosis.hint.find("instruction"), std::string::npos);
  EXPECT_NE(crash(SIGSEGV, 0, "", {{"code", SI_KERNEL}}).diagnosis.hint.find("alignment"), std::string::npos);
  EXPECT_NE(crash(SIGSEGV, 0x7f0000000000, "", {{"stack", true}}).diagnosis.summary.find("stack"), std::string::npos);
  EXPECT_FALSE(crash(SIGSEGV, 0x7f0000000000).diagnosis.hint.empty());
}

TEST(FailureFromCrash, AnAbortIsExplainedByWhatWasPrinted) {
  EXPECT_EQ(crash(SIGABRT, 0, "terminate called after throwing an instance of 'std::bad_alloc'\n").verdict, Verdict::out_of_memory);
  EXPECT_NE(crash(SIGABRT, 0, "free(): double free detected in tcache 2\n").diagnosis.summary.find("heap"), std::string::npos);
  EXPECT_NE(crash(SIGABRT, 0, "*** stack smashing detected ***: terminated\n").diagnosis.summary.find("stack"), std::string::npos);
  EXPECT_NE(crash(SIGABRT, 0, "terminate called without an active exception\n").diagnosis.summary.find("exception"),
            std::string::npos);
  const auto assertion = crash(SIGABRT, 0, "kw-runner: kernel.cpp:3: Assertion `n == 4' failed.\nsecond line\n");
  EXPECT_EQ(assertion.diagnosis.evidence.at(0), "kw-runner: kernel.cpp:3: Assertion `n == 4' failed.");
}

TEST(FailureFromCrash, AProcessAtItsLimitIsOutOfMemory) {
  EXPECT_EQ(crash(SIGSEGV, 0, "", {{"memory", true}}).verdict, Verdict::out_of_memory);
}

TEST(FailureFromViolation, NamesTheCall) {
  const auto failure = failure_from_violation(SYS_socket, "run");
  EXPECT_EQ(failure.verdict, Verdict::forbidden);
  EXPECT_NE(failure.diagnosis.summary.find("socket()"), std::string::npos);
  EXPECT_NE(failure_from_violation(SYS_clone, "run").diagnosis.hint.find("OpenMP"), std::string::npos);
  EXPECT_FALSE(failure_from_violation(-1, "run").diagnosis.summary.empty());
}

TEST(FailureFromEnd, TellsDeadlineMemorySignalAndExitApart) {
  sandbox::Outcome outcome;
  outcome.timed_out = true;
  EXPECT_EQ(failure_from_end(outcome, "run", 2.5).verdict, Verdict::timed_out);
  EXPECT_NE(failure_from_end(outcome, "run", 2.5).diagnosis.summary.find("2.5 s"), std::string::npos);
  outcome = {};
  outcome.memory_exceeded = true;
  EXPECT_EQ(failure_from_end(outcome, "run", 1).verdict, Verdict::out_of_memory);
  outcome = {};
  outcome.signal = SIGSYS;
  EXPECT_EQ(failure_from_end(outcome, "run", 1).verdict, Verdict::forbidden);
  outcome.signal = SIGSEGV;
  EXPECT_EQ(failure_from_end(outcome, "run", 1).verdict, Verdict::crashed);
  EXPECT_NE(failure_from_end(outcome, "run", 1).diagnosis.summary.find("SIGSEGV"), std::string::npos);
  outcome = {};
  outcome.exit_code = 0;
  const auto left = failure_from_end(outcome, "prepare", 1);
  EXPECT_EQ(left.verdict, Verdict::crashed) << "leaving early with status 0 is no success";
  EXPECT_EQ(left.diagnosis.stage, "prepare");
}

}  // namespace
}  // namespace kw
