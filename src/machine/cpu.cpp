#include "machine/cpu.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cores.h"
#include "base/hash.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace kw {
namespace {

// Part of the id, so that figures of another way of measuring are not taken for ours.
constexpr std::string_view kProbeVersion = "1";

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string cpuinfo_field(const fs::path& root, std::string_view name) {
  std::ifstream file(root / "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == name) return trimmed(line.substr(colon + 1));
  }
  return {};
}

std::string find_model(const fs::path& root) {
  if (std::string name = cpuinfo_field(root, "model name"); !name.empty()) return name;
  // ARM kernels name no model, only who designed the core and which one it is.
  const std::string implementer = cpuinfo_field(root, "CPU implementer");
  if (!implementer.empty()) return fmt::format("ARM implementer {} part {}", implementer, cpuinfo_field(root, "CPU part"));
  utsname system{};
  return uname(&system) == 0 ? std::string("unknown ") + system.machine : "unknown";
}

// The folders of this process's control group and of those above it: a limit of any of them binds.
std::vector<fs::path> control_groups(const fs::path& root) {
  const fs::path base = root / "sys/fs/cgroup";
  std::vector<fs::path> folders{base};
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::/", 0) != 0) continue;
    fs::path folder = base;
    for (const fs::path& part : fs::path(line.substr(4))) folders.push_back(folder /= part);
  }
  return folders;
}

// Infinite where there is no quota.
double cpu_quota(const fs::path& root) {
  double quota = INFINITY;
  const auto limit = [&](double time, double period) {
    if (time > 0 && period > 0) quota = std::min(quota, time / period);
  };
  for (const fs::path& folder : control_groups(root)) {
    double time = 0, period = 0;
    if (std::istringstream(first_line(folder / "cpu.max")) >> time >> period) limit(time, period);
  }
  const fs::path old = root / "sys/fs/cgroup/cpu";
  double time = 0, period = 0;
  if ((std::istringstream(first_line(old / "cpu.cfs_quota_us")) >> time) &&
      (std::istringstream(first_line(old / "cpu.cfs_period_us")) >> period))
    limit(time, period);
  return quota;
}

double find_memory(const fs::path& root) {
  double memory = 0;
  std::ifstream file(root / "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    double kibibytes = 0;
    if (line.rfind("MemTotal:", 0) == 0 && std::istringstream(line.substr(9)) >> kibibytes) memory = kibibytes * 1024;
  }
  std::vector<fs::path> limits{root / "sys/fs/cgroup/memory/memory.limit_in_bytes"};
  for (const fs::path& folder : control_groups(root)) limits.push_back(folder / "memory.max");
  for (const fs::path& limit : limits) {
    double bytes = 0;
    if (std::istringstream(first_line(limit)) >> bytes && bytes > 0) memory = memory > 0 ? std::min(memory, bytes) : bytes;
  }
  return memory;
}

double size_in_bytes(const std::string& text) {  // "512K", "32M"
  double number = 0;
  char unit = 0;
  std::istringstream stream(text);
  if (!(stream >> number)) return 0;
  stream >> unit;
  return number * (unit == 'K' ? 1024.0 : unit == 'M' ? 1048576.0 : unit == 'G' ? 1073741824.0 : 1.0);
}

double from_sysconf(int name) { return static_cast<double>(std::max(0L, sysconf(name))); }

void find_caches(const fs::path& root, const std::vector<int>& cpus, CpuInfo& info) {
  std::set<std::string> seen_l3;
  for (const int cpu : cpus) {
    for (int index = 0; index < 8; ++index) {
      const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}/cache/index{}", cpu, index);
      const std::string level = first_line(folder / "level");
      if (level.empty()) break;
      if (first_line(folder / "type") == "Instruction") continue;
      const double size = size_in_bytes(first_line(folder / "size"));
      // Cores may differ (big.LITTLE): the largest is the one that a ceiling is about.
      if (level == "1") info.l1d_bytes = std::max(info.l1d_bytes, size);
      if (level == "2") info.l2_bytes = std::max(info.l2_bytes, size);
      if (level == "3") {
        info.l3_of_one_core_bytes = std::max(info.l3_of_one_core_bytes, size);
        if (seen_l3.insert(first_line(folder / "shared_cpu_list")).second) info.l3_bytes += size;
      }
    }
  }
  if (info.l1d_bytes > 0 || info.l3_bytes > 0) return;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  info.l1d_bytes = from_sysconf(_SC_LEVEL1_DCACHE_SIZE);
  info.l2_bytes = from_sysconf(_SC_LEVEL2_CACHE_SIZE);
  info.l3_bytes = info.l3_of_one_core_bytes = from_sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
}

std::vector<std::string> find_isas() {
  std::vector<std::string> isas;
  const auto add = [&](bool there, const char* name) {
    if (there) isas.emplace_back(name);
  };
#if defined(__x86_64__)
  __builtin_cpu_init();
  add(__builtin_cpu_supports("sse2"), "sse2");
  add(__builtin_cpu_supports("sse4.2"), "sse4.2");
  add(__builtin_cpu_supports("avx"), "avx");
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512dq"), "avx512dq");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512vl"), "avx512vl");
  add(__builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
#elif defined(__aarch64__)
  const unsigned long capabilities = getauxval(AT_HWCAP);
  add(capabilities & HWCAP_ASIMD, "neon");
  add(capabilities & HWCAP_ASIMDHP, "fp16");
  add(capabilities & HWCAP_ASIMDDP, "dotprod");
  add(capabilities & HWCAP_SVE, "sve");
#endif
  return isas;
}

}  // namespace

bool CpuInfo::has(std::string_view isa) const { return std::find(isas.begin(), isas.end(), isa) != isas.end(); }

CpuInfo detect_cpu(const fs::path& root) {
  const std::vector<int> cpus = usable_cores();
  CpuInfo info;
  info.model = find_model(root);
  const double allowed = std::min(static_cast<double>(cpus.size()), std::ceil(cpu_quota(root)));
  info.cores = std::max(1, static_cast<int>(allowed));
  info.isas = find_isas();
  find_caches(root, cpus, info);
  info.memory_bytes = find_memory(root);
  return info;
}

std::vector<std::string> vector_isas(const CpuInfo& cpu) {
  std::vector<std::string> names;
  if (cpu.has("sse2")) names.emplace_back("sse2");
  if (cpu.has("avx2") && cpu.has("fma")) names.emplace_back("avx2");
  if (cpu.has("avx512f")) names.emplace_back("avx512");
  if (cpu.has("neon")) names.emplace_back("neon");
  return names;
}

std::string machine_id(const CpuInfo& cpu) {
  return key_of(kProbeVersion, cpu.model, fmt::format("{}", fmt::join(cpu.isas, " ")),
                fmt::format("{} {} {} {}", cpu.l1d_bytes, cpu.l2_bytes, cpu.l3_bytes, cpu.cores));
}

}  // namespace kw
