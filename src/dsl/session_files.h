// The memory that a session's tensors lie in on our side: one file for the weights, which a process has from its start, and one for
// each set of inputs, which it gets with the call on them.
#pragma once

#include <span>
#include <vector>

#include "dsl/memory_file.h"
#include "dsl/session.h"
#include "runner/protocol.h"

namespace kw {

// How a tensor or number of the problem lies in memory.
runner::Argument argument_of(const TensorSpec& spec, Placement placement);

class SessionFiles {
 public:
  static Result<SessionFiles> make(const runner::Spec& spec, int sets);

  // Where an argument's region is, for us to fill; `set` counts for inputs only.
  [[nodiscard]] std::byte* region(const runner::Spec& spec, std::size_t argument, int set) const;

  // To hand to a process: nobody can write through them. -1 where there is nothing to hand.
  [[nodiscard]] int weights() const { return weights_.read_only; }
  [[nodiscard]] int inputs(int set) const;

 private:
  // A file in memory, mapped here.
  struct File {
    File() = default;
    File(File&& other) noexcept { swap(other); }
    File& operator=(File&& other) noexcept {
      swap(other);
      return *this;
    }
    ~File();
    void swap(File& other) noexcept;
    Status open(const char* name, std::uint64_t size);
    int read_only = -1;
    std::byte* begin = nullptr;
    std::uint64_t bytes = 0;
  };
  File weights_;
  std::vector<File> inputs_;
};

// An order to the runner, with a descriptor or (-1) without.
void send_order(int socket, const std::string& text, int descriptor);

}  // namespace kw
