#include "machine/cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/cores.h"
#include "machine/bandwidth.h"

namespace kw {
namespace {

// A /proc and /sys of our own.
class PlantedSystem {
 public:
  PlantedSystem() : folder_(std::move(TempFolder::make("kw-cpu")).value()) {}
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  void put_cache(int cpu, int index, const std::string& level, const std::string& type, const std::string& size,
                 const std::string& shared) const {
    const std::string at = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    put(at + "level", level + "\n");
    put(at + "type", type + "\n");
    put(at + "size", size + "\n");
    put(at + "shared_cpu_list", shared + "\n");
  }
  [[nodiscard]] CpuInfo detect() const { return detect_cpu(folder_.path()); }

 private:
  TempFolder folder_;
};

TEST(Cpu, ReadsModelAndMemory) {
  PlantedSystem system;
  system.put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Planted 9000 \nflags\t: sse2\n");
  system.put("proc/meminfo", "MemTotal:        1024 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(system.detect().model, "Planted 9000");
  EXPECT_EQ(system.detect().memory_bytes, 1024 * 1024);
}

TEST(Cpu, NamesAnArmCoreByItsPart) {
  PlantedSystem system;
  system.put("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(system.detect().model, "ARM implementer 0x41 part 0xd0c");
}

TEST(Cpu, ContainerLimitsBindAtAnyLevel) {
  PlantedSystem system;
  system.put("proc/meminfo", "MemTotal: 1048576 kB\n");
  system.put("proc/self/cgroup", "0::/outer/inner\n");
  system.put("sys/fs/cgroup/outer/memory.max", "500000\n");
  system.put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  system.put("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(system.detect().memory_bytes, 500000);
  EXPECT_EQ(system.detect().cores, 1);
}

TEST(Cpu, NoQuotaIsNoLimit) {
  PlantedSystem system;
  system.put("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(system.detect().cores, detect_cpu().cores);
}

TEST(Cpu, ReadsCachesAndCountsASharedL3Once) {
  PlantedSystem system;
  for (const int cpu : usable_cores()) {
    system.put_cache(cpu, 0, "1", "Data", "48K", std::to_string(cpu));
    system.put_cache(cpu, 1, "1", "Instruction", "64K", std::to_string(cpu));
    system.put_cache(cpu, 2, "2", "Unified", "2M", std::to_string(cpu));
    system.put_cache(cpu, 3, "3", "Unified", "16384K", "0-1023");
  }
  const CpuInfo cpu = system.detect();
  EXPECT_EQ(cpu.l1d_bytes, 48 * 1024);
  EXPECT_EQ(cpu.l2_bytes, 2 << 20);
  EXPECT_EQ(cpu.l3_bytes, 16 << 20);
  EXPECT_EQ(cpu.l3_of_one_core_bytes, 16 << 20);
}

TEST(Cpu, AddsUpL3sThatAreNotShared) {
  PlantedSystem system;
  const std::vector<int> cpus = usable_cores();
  for (const int cpu : cpus) system.put_cache(cpu, 0, "3", "Unified", "1M", std::to_string(cpu));
  EXPECT_EQ(system.detect().l3_bytes, static_cast<double>(cpus.size()) * (1 << 20));
  EXPECT_EQ(system.detect().l3_of_one_core_bytes, 1 << 20);
}

TEST(Cpu, ThisOneHasAVectorInstructionSet) {
  const CpuInfo cpu = detect_cpu();
  EXPECT_GE(cpu.cores, 1);
  EXPECT_FALSE(cpu.model.empty());
  EXPECT_FALSE(vector_isas(cpu).empty());
  EXPECT_GT(cpu.memory_bytes, 0);
}

TEST(Cpu, IdChangesWithWhateverChangesTheCeilings) {
  CpuInfo cpu;
  cpu.model = "Planted 9000";
  cpu.isas = {"sse2"};
  cpu.cores = 4;
  const std::string id = machine_id(cpu);
  EXPECT_EQ(machine_id(cpu), id);
  CpuInfo other = cpu;
  other.cores = 2;
  EXPECT_NE(machine_id(other), id);
  other = cpu;
  other.isas.emplace_back("avx2");
  EXPECT_NE(machine_id(other), id);
  other = cpu;
  other.l3_bytes = 1 << 20;
  EXPECT_NE(machine_id(other), id);
  other = cpu;
  other.model = "Planted 9001";
  EXPECT_NE(machine_id(other), id);
}

TEST(Cpu, VectorIsasNeedFmaForAvx2) {
  CpuInfo cpu;
  cpu.isas = {"sse2", "avx2"};
  EXPECT_EQ(vector_isas(cpu), std::vector<std::string>({"sse2"}));
  cpu.isas = {"sse2", "avx2", "fma", "avx512f"};
  EXPECT_EQ(vector_isas(cpu), std::vector<std::string>({"sse2", "avx2", "avx512"}));
}

TEST(WorkingSets, ClimbFromL1ToMemory) {
  CpuInfo cpu;
  cpu.l1d_bytes = 32 << 10;
  cpu.l2_bytes = 512 << 10;
  cpu.l3_bytes = cpu.l3_of_one_core_bytes = 32 << 20;
  cpu.memory_bytes = 16.0 * (1 << 30);
  const std::vector<double> sets = working_sets(cpu, 1, 512 << 20);
  ASSERT_EQ(sets.size(), 5U);
  EXPECT_TRUE(std::is_sorted(sets.begin(), sets.end()));
  EXPECT_LE(sets[0], 16 << 10);
  EXPECT_LE(sets[1], 256 << 10);
  EXPECT_LE(sets[2], 8 << 20);
  EXPECT_LE(sets[3], 24 << 20);
  EXPECT_GT(sets[3], 8 << 20);
  EXPECT_GT(sets[4], 3.9 * (32 << 20));
}

TEST(WorkingSets, StayWithinMemoryAndTheCallersLimit) {
  CpuInfo cpu;
  cpu.l3_bytes = cpu.l3_of_one_core_bytes = 256 << 20;
  cpu.memory_bytes = 1 << 30;
  EXPECT_LE(working_sets(cpu, 2, 512 << 20).back(), 3.0 / 4 * (256 << 20));
  EXPECT_LE(working_sets(cpu, 2, 8 << 20).back(), 8 << 20);
}

TEST(WorkingSets, AreMadeUpWhereTheSystemTellsNoCaches) {
  const std::vector<double> sets = working_sets(CpuInfo{}, 4, 512 << 20);
  ASSERT_EQ(sets.size(), 3U);
  for (const double set : sets) EXPECT_GT(set, 0);
}

}  // namespace
}  // namespace kw
