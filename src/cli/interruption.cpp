#include "cli/interruption.h"

#include <csignal>

namespace kw {
namespace {

std::atomic<bool> interruption_wanted{false};
struct sigaction old_interrupt, old_terminate;

extern "C" void on_interruption(int signal) {
  if (interruption_wanted.exchange(true)) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

}  // namespace

Interruption::Interruption() {
  interruption_wanted = false;
  struct sigaction action {};
  action.sa_handler = on_interruption;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_interrupt);
  ::sigaction(SIGTERM, &action, &old_terminate);
}

Interruption::~Interruption() {
  ::sigaction(SIGINT, &old_interrupt, nullptr);
  ::sigaction(SIGTERM, &old_terminate, nullptr);
}

const std::atomic<bool>& Interruption::wanted() const { return interruption_wanted; }

}  // namespace kw
