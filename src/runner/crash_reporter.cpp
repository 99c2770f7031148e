#include "runner/crash_reporter.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace kw::runner {
namespace {

int control = -1;
std::uintptr_t object_base = 0;

struct Registers {
  std::uintptr_t program_counter = 0;
  std::uintptr_t stack_pointer = 0;
};

Registers registers_of(const void* context) {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine->gregs[REG_RIP]), static_cast<std::uintptr_t>(machine->gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine->pc, machine->sp};
#else
  (void)machine;
  return {};
#endif
}

// Whether another 64 MiB could be had: a process at its limit that crashes most likely did not check an allocation.
bool memory_is_exhausted() {
  void* more = ::mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (more == MAP_FAILED) return true;
  ::munmap(more, 64 << 20);
  return false;
}

void report(int signal, siginfo_t* info, void* context) {
  char text[320];
  const Registers registers = registers_of(context);
  const std::uintptr_t pc = registers.program_counter;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  constexpr std::uintptr_t kFrame = 1 << 16;
  const bool at_stack =
      signal == SIGSEGV && address + kFrame > registers.stack_pointer && address < registers.stack_pointer + kFrame;
  // snprintf with integers only does not allocate.
  const int length =
      std::snprintf(text, sizeof text, R"({"event":"crash","signal":%d,"code":%d,"address":%llu,"pc":%llu,"stack":%s,"memory":%s})",
                    signal, info->si_code, static_cast<unsigned long long>(address),
                    static_cast<unsigned long long>(object_base != 0 && pc > object_base ? pc - object_base : 0),
                    at_stack ? "true" : "false", memory_is_exhausted() ? "true" : "false");
  (void)::send(control, text, static_cast<std::size_t>(length), MSG_NOSIGNAL);
  ::_exit(128 + signal);
}

}  // namespace

void give_thread_a_signal_stack() {
  constexpr std::size_t kSize = 64 << 10;
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kSize;
  ::sigaltstack(&stack, nullptr);
}

void install_crash_reporter(int control_descriptor) {
  control = control_descriptor;
  struct sigaction action {};
  action.sa_sigaction = report;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

void set_object_base(const void* base) { object_base = reinterpret_cast<std::uintptr_t>(base); }

}  // namespace kw::runner
