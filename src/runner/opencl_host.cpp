#include "runner/opencl_host.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/cores.h"

namespace kw::runner {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

// Zeros that cost no memory before they are written, with guards around them.
Result<char*> guarded_zeros(std::uint64_t region) {
  void* all = ::mmap(nullptr, region + 2 * kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return internal_error("no address space for OpenCL's memory");
  char* at = static_cast<char*>(all) + kGuardBytes;
  if (region > 0 && ::mprotect(at, region, PROT_READ | PROT_WRITE) != 0) return internal_error("no memory for OpenCL's scratch");
  return at;
}

// The runtime's threads follow the process in number; which they are, no file says in here.
void give_threads_cores(int threads) {
  const std::vector<int> cores = usable_cores();
  if (threads < 2 || cores.size() != static_cast<std::size_t>(threads)) return;
  constexpr int kFarthest = 4096;
  const pid_t self = ::getpid();
  std::size_t next = 0;
  for (pid_t id = self + 1; id < self + kFarthest && next < cores.size(); ++id) {
    if (::syscall(SYS_tgkill, self, id, 0) != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(cores[next++]), &one);
    ::sched_setaffinity(id, sizeof one, &one);
  }
}

}  // namespace

Result<std::unique_ptr<OpenClHost>> OpenClHost::open(const Spec& spec, const Buffers& buffers) {
  const char* temporary = std::getenv("TMPDIR");
  ::setenv("POCL_CACHE_DIR", (std::string(temporary != nullptr ? temporary : "/tmp") + "/opencl").c_str(), 1);
  ::setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(spec.threads).c_str(), 1);
  std::unique_ptr<OpenClHost> host(new OpenClHost(spec));
  std::vector<opencl::Memory> memory, scratch;
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    const Argument& argument = spec.arguments[i];
    KW_TRY(char* blank, guarded_zeros(argument.region));
    if (argument.role != Role::output) ::mprotect(blank, argument.region, PROT_READ);
    host->blanks_.push_back(blank);
    host->blank_arguments_.push_back(blank + argument.lead);
    if (argument.role == Role::scalar) continue;
    memory.push_back({blank + argument.lead, argument.bytes});
    const int copies = argument.role == Role::output ? spec.out_slots : 1;
    for (int copy = 0; copy < copies; ++copy) memory.push_back({buffers.region(i, copy) + argument.lead, argument.bytes});
  }
  for (const std::uint64_t bytes : spec.opencl.scratch_bytes) {
    const std::uint64_t region = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    KW_TRY(char* at, guarded_zeros(region));
    scratch.push_back({at + (region - (bytes + 63) / 64 * 64), bytes});  // the end is at the guard, as the tensors' is
  }
  KW_TRY(host->program_, opencl::Program::open(spec.object, spec.opencl, memory, scratch));
  give_threads_cores(spec.threads);
  return host;
}

Status OpenClHost::load() {
  if (spec_.has_prepare) KW_CHECK(program_->run(blank_arguments_, true));
  return program_->run(blank_arguments_, false);
}

}  // namespace kw::runner
