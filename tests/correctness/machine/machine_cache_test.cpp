#include "machine/machine_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace kw {
namespace {

// A cache folder of its own and a probe that counts its calls.
class MachineCache : public ::testing::Test {
 protected:
  MachineCache() : folder_(std::move(TempFolder::make("kw-machine")).value()) {
    cpu_.model = "Planted 9000";
    cpu_.cores = 2;
    request_.folder = folder_.path();
    request_.probe = [this](const CpuInfo& cpu, const Progress&) -> Result<Machine> {
      ++probes_;
      Machine machine;
      machine.id = machine_id(cpu);
      machine.cpu_model = cpu.model;
      machine.cores = cpu.cores;
      machine.isas = {"sse2"};
      machine.widest_isa = "sse2";
      for (const int threads : {1, cpu.cores}) {
        machine.peaks.push_back({"sse2", threads, 10.5 * threads});
        machine.bandwidth.push_back({"read", threads, 4096, 1.0 / 3 * threads});
      }
      machine.openmp_region_seconds = 1e-6 * probes_;
      machine.measured_at = "2024-01-01T00:00:00Z";
      return machine;
    };
    request_.progress = [this](std::string_view message) { told_ += std::string(message) + "\n"; };
  }
  [[nodiscard]] fs::path file() const { return folder_.path() / "machines" / (machine_id(cpu_) + ".json"); }
  Machine ask() {
    Result<Machine> machine = machine_of(cpu_, request_);
    EXPECT_TRUE(machine.ok()) << machine.error().message;
    return machine.ok() ? *machine : Machine{};
  }
  void spoil(const std::string& text) { ASSERT_TRUE(write_file_atomically(file(), text).ok()); }

  TempFolder folder_;
  CpuInfo cpu_;
  MachineRequest request_;
  int probes_ = 0;
  std::string told_;
};

TEST_F(MachineCache, MeasuresOnceAndReadsTheSameBack) {
  const Json measured = ask();
  const Json kept = ask();
  EXPECT_EQ(probes_, 1);
  EXPECT_EQ(measured, kept);
}

TEST_F(MachineCache, MeasuresAgainOnRequest) {
  ask();
  request_.refresh = true;
  EXPECT_DOUBLE_EQ(ask().openmp_region_seconds, 2e-6);
  request_.refresh = false;
  EXPECT_DOUBLE_EQ(ask().openmp_region_seconds, 2e-6) << "the new figures replace the kept ones";
  EXPECT_EQ(probes_, 2);
}

TEST_F(MachineCache, ADamagedFileIsMeasuredAnewAndReplaced) {
  ask();
  const std::string whole = *read_file(file());
  Json negative = Json::parse(whole), null = negative, missing = negative, empty = negative;
  negative["peaks"][0]["gflops"] = -1;
  null["bandwidth"][0]["gbytes_per_second"] = nullptr;
  missing.erase("cores");
  empty["bandwidth"] = Json::array();
  int expected = 1;
  for (const std::string& text : {std::string(), std::string("not json"), whole.substr(0, whole.size() / 2), std::string("[]"),
                                  std::string("\0\xff", 2), negative.dump(), null.dump(), missing.dump(), empty.dump()}) {
    spoil(text);
    told_.clear();
    ask();
    EXPECT_EQ(probes_, ++expected) << text;
    EXPECT_NE(told_.find(file().string()), std::string::npos) << "the message names the file: " << told_;
    ask();
    EXPECT_EQ(probes_, expected) << "replaced by a good one after: " << text;
  }
}

TEST_F(MachineCache, AFileOfAnotherMachineIsNotUsed) {
  Json other = ask();
  other["id"] = "another";
  spoil(other.dump());
  EXPECT_EQ(ask().id, machine_id(cpu_));
  EXPECT_EQ(probes_, 2);
}

TEST_F(MachineCache, AnotherNumberOfCoresIsAnotherMachine) {
  ask();
  cpu_.cores = 1;
  EXPECT_EQ(ask().cores, 1);
  EXPECT_EQ(probes_, 2);
  cpu_.cores = 2;
  EXPECT_EQ(ask().cores, 2);
  EXPECT_EQ(probes_, 2) << "the first one is still kept";
}

TEST_F(MachineCache, AProbeThatFailsKeepsNothing) {
  request_.probe = [](const CpuInfo&, const Progress&) -> Result<Machine> { return internal_error("no luck"); };
  const Result<Machine> failed = machine_of(cpu_, request_);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "no luck");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(MachineCache, UnsoundFiguresAreAnErrorAndNotKept) {
  const auto sound = request_.probe;
  request_.probe = [sound](const CpuInfo& cpu, const Progress& progress) -> Result<Machine> {
    Machine machine = *sound(cpu, progress);
    machine.peaks[0].gflops = NAN;
    return machine;
  };
  EXPECT_FALSE(machine_of(cpu_, request_).ok());
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(MachineCache, WhereItCannotBeKeptItIsStillMeasured) {
  ASSERT_TRUE(write_file_atomically(folder_.path() / "machines", "a file in the folder's place").ok());
  EXPECT_EQ(ask().cores, 2);
  EXPECT_NE(told_.find("not kept"), std::string::npos) << told_;
}

TEST_F(MachineCache, MeasuringWaitsForOtherTimings) {
  const Result<MachineLock> other = MachineLock::acquire({}, folder_.path());
  ASSERT_TRUE(other.ok());
  request_.wait.timeout = std::chrono::milliseconds(20);
  EXPECT_FALSE(machine_of(cpu_, request_).ok());
  EXPECT_EQ(probes_, 0);
}

TEST_F(MachineCache, WhatAnotherProcessMeasuredMeanwhileIsUsed) {
  Result<MachineLock> other = MachineLock::acquire({}, folder_.path());
  ASSERT_TRUE(other.ok());
  std::optional<MachineLock> held(std::move(*other));
  request_.wait.on_wait = [&](std::chrono::milliseconds) {
    Json theirs = *request_.probe(cpu_, {});
    theirs["measured_at"] = "theirs";
    fs::create_directories(file().parent_path());
    spoil(theirs.dump());
    held.reset();
    return true;
  };
  EXPECT_EQ(ask().measured_at, "theirs");
  EXPECT_EQ(probes_, 1) << "only theirs";
}

}  // namespace
}  // namespace kw
