#include "verify/gpu_findings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/demangle.h"
#include "vgpu/report_json.h"

namespace kw {
namespace {

// Tables and scalars may go to constant memory in each call; a tensor may not.
constexpr std::uint64_t kMostToDevice = 64 << 10;
constexpr std::size_t kLongestName = 120;

struct Kind {
  std::string_view name;
  Verdict verdict;
  std::string_view words;
  std::string_view hint;
};

// The worst first: that one is told. A race makes a kernel wrong whatever its outputs were this time.
constexpr std::array kKinds{
    Kind{"unsupported", Verdict::compile_failed, "the virtual GPU does not have an instruction",
         "docs/ptx-support.md lists what it has"},
    Kind{"launch_limit", Verdict::crashed, "the launch is refused", "stay within the GPU's limits; check the error of each launch"},
    Kind{"out_of_bounds", Verdict::crashed, "out of bounds", "check the guard of the last block and the strides"},
    Kind{"misaligned", Verdict::crashed, "a misaligned access", "a vector access needs an address that its width divides"},
    Kind{"assert", Verdict::crashed, "an assertion failed", "look at the condition"},
    Kind{"trap", Verdict::crashed, "the kernel trapped", "look for __trap() and for what the compiler took for unreachable"},
    Kind{"deadlock", Verdict::timed_out, "the kernel waits for ever",
         "every thread of the block that has not ended has to reach a barrier; a count of threads has to be met"},
    Kind{"timeout", Verdict::timed_out, "the launch takes too long",
         "look for a loop that does not end, or give more time with --timeout"},
    Kind{"divergent_barrier", Verdict::crashed, "a barrier that not all threads reach",
         "move __syncthreads() out of the branch, or name the lanes in __syncwarp()"},
    Kind{"shared_race", Verdict::wrong, "a race in shared memory", "put __syncthreads() between the two accesses"},
    Kind{"global_race", Verdict::wrong, "a race in global memory", "use an atomic, or let one block own each element"},
    Kind{"uninitialised", Verdict::wrong, "memory is read that nothing has written", "write it first; outputs hold no zeros"},
    Kind{"invalid_free", Verdict::crashed, "a wrong cudaFree", "free each allocation once, at its begin"},
    Kind{"wrong_direction", Verdict::crashed, "a copy in the wrong direction", "use the direction that the pointers have"},
};

const Kind* kind_of(const vgpu::Finding& finding) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) { return kind.name == finding.kind; });
  return found == kKinds.end() ? nullptr : &*found;
}

std::string place_of(const vgpu::Finding& finding, const std::string& kernel_file) {
  if (finding.line <= 0) return "";
  const std::string name = fs::path(finding.file).filename().string();
  return fmt::format("{}:{}", name == "kernel.cu" || name == "kernel.py" ? kernel_file : name, finding.line);
}

std::string dimensions(const vgpu::Dim3& dim) { return fmt::format("({}, {}, {})", dim.x, dim.y, dim.z); }

Diagnosis diagnosis_of(const vgpu::Finding& finding, const Kind& kind, const std::string& kernel_file) {
  Diagnosis d;
  d.stage = "run";
  d.summary = fmt::format("{}: {}", kind.words, finding.message);
  d.place = place_of(finding, kernel_file);
  if (!finding.kernel.empty()) d.evidence.push_back("in " + demangled(finding.kernel).substr(0, kLongestName));
  const bool of_a_thread = !finding.kernel.empty() && kind.name != "launch_limit";
  if (of_a_thread)
    d.evidence.push_back(fmt::format("by thread {} of block {}", dimensions(finding.thread), dimensions(finding.block)));
  if (!finding.allocation.empty()) d.evidence.push_back("memory: " + finding.allocation);
  if (finding.count > 1) d.evidence.push_back(fmt::format("{} times in this launch", finding.count));
  d.hint = kind.hint;
  d.pattern = kind.name;
  if (finding.message.find("which is read-only") != std::string::npos) {
    d.summary = "the kernel writes to an input or a parameter: " + finding.message;
    d.hint = "inputs and parameters are read-only: write to the outputs or to memory of your own";
    d.pattern = "read_only";
  }
  return d;
}

GpuJudgement forbidden(std::string summary, std::string hint) {
  GpuJudgement judged;
  judged.verdict = Verdict::forbidden;
  judged.diagnosis = {"run", std::move(summary), "", {}, std::move(hint), ""};
  return judged;
}

// CUTLASS's pipelines load fragments of stages that nothing has filled and never use them. A value that is used shows in the
// output.
bool is_harmless(const vgpu::Finding& finding) { return finding.kind == "uninitialised" && finding.allocation == "shared memory"; }

// How much was run. A launch after a sampled one reads what the blocks that were left out would have written: what is found there
// says nothing of the kernel, and is dropped.
GpuSample take_sample(vgpu::ProgramReport& seen) {
  GpuSample sample;
  sample.launches = seen.launches.size();
  for (const vgpu::LaunchRecord& launch : seen.launches) {
    for (const vgpu::Finding& finding : launch.report.findings) {
      if (!sample.is_sample) break;
      const auto same = std::find_if(seen.findings.rbegin(), seen.findings.rend(), [&](const vgpu::Finding& each) {
        return each.kind == finding.kind && each.kernel == finding.kernel && each.ptx_line == finding.ptx_line;
      });
      if (same != seen.findings.rend()) seen.findings.erase(std::next(same).base());
    }
    sample.is_sample = sample.is_sample || launch.report.sampled();
    sample.blocks += launch.report.blocks;
    sample.blocks_run += launch.report.blocks_run;
  }
  return sample;
}

}  // namespace

bool blocks_work_together(std::string_view ptx) {
  for (std::size_t begin = 0; begin < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', begin), ptx.size());
    std::string_view line = ptx.substr(begin, end - begin);
    begin = end + 1;
    for (const std::string_view opcode : {"atom.", "red.", "cp.reduce."}) {
      const std::size_t at = line.find(opcode);
      const bool is_word = at != std::string_view::npos && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t');
      if (is_word && line.find(".shared", at) == std::string_view::npos) return true;
    }
  }
  return false;
}

Result<GpuJudgement> judge_gpu_report(const GpuReport& report, const std::string& kernel_file, bool in_prepare) {
  KW_TRY(vgpu::ProgramReport seen, vgpu::parse_program_report(report.lines));
  GpuJudgement judged;
  judged.sample = take_sample(seen);
  const bool tells = !judged.sample.is_sample || judged.sample.launches == 1;  // of errors at the end
  const vgpu::Finding* worst = nullptr;
  const Kind* worst_kind = nullptr;
  for (const vgpu::Finding& finding : seen.findings) {
    const Kind* kind = kind_of(finding);
    if (kind == nullptr) continue;
    if (is_harmless(finding)) {
      judged.notes.push_back(fmt::format("shared memory is read that nothing has written ({}); the outputs do not depend on it",
                                         place_of(finding, kernel_file)));
      continue;
    }
    if (worst == nullptr || kind < worst_kind) worst = &finding, worst_kind = kind;
  }
  if (worst != nullptr) {
    judged.notes.clear();
    judged.verdict = worst_kind->verdict;
    judged.diagnosis = diagnosis_of(*worst, *worst_kind, kernel_file);
    return judged;
  }
  if (!seen.errors.empty() && report.error != 0) {
    judged.verdict = Verdict::compile_failed;
    judged.diagnosis = {"load", seen.errors.front(), "", {}, "docs/ptx-support.md lists what the virtual GPU has", "unsupported"};
    return judged;
  }
  if (report.error != 0 && tells) {
    judged.verdict = Verdict::crashed;
    judged.diagnosis = {"run", fmt::format("the call ends with {}", report.error_name), "",
                        {},    "check what each call of the runtime returns",           ""};
    return judged;
  }
  if (in_prepare) return judged;
  if (report.to_host > 0)
    return forbidden(fmt::format("the kernel copies {} bytes to the host", report.to_host),
                     "the work is done on the device: no copies to the host during a call");
  if (report.to_device > kMostToDevice)
    return forbidden(fmt::format("the kernel copies {} bytes from the host", report.to_device),
                     "no more than 64 KiB of constants during a call; repack weights in kw_prepare");
  if (report.host_allocations > 0)
    return forbidden("the kernel asks for memory of the host that kernels can use",
                     "use cudaMalloc, in kw_prepare where it can be kept");
  return judged;
}

}  // namespace kw
