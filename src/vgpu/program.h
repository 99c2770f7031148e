// A module decoded for execution: one flat array of instructions, each with the function that executes it and the places of its
// operands. Made once by decode_module; read-only afterwards, so that all threads share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/device.h"
#include "vgpu/lanes.h"
#include "vgpu/ptx_module.h"

namespace kw::vgpu {

struct Warp;
struct Instruction;

// Executes one instruction for the lanes of mask (never empty unless `always` is set). False: the warp's current path has ended,
// waits or yields, and another one has to be chosen.
using Exec = bool (*)(Warp& warp, const Instruction& instruction, std::uint32_t mask);

// Reads one element for each lane of mask from places[lane] + offset into a register; the second writes. `size` is what a lane
// moves in memory.
using LoadFn = void (*)(void* dst, const std::uint64_t* places, std::uint32_t offset, std::uint32_t mask);
using StoreFn = void (*)(const void* src, const std::uint64_t* places, std::uint32_t offset, std::uint32_t mask);

// Where an operand is: a byte offset, whose two lowest bits say from which base. kNoOperand: there is none.
using OperandRef = std::uint32_t;
inline constexpr OperandRef kNoOperand = 0xffffffffu;
enum OperandBase : std::uint32_t { kRegisterBase = 0, kConstantBase = 1, kSpecialBase = 2 };
inline constexpr std::uint32_t kNowhere = 0xffffffffu;  // of targets

struct Instruction {
  Exec exec = nullptr;
  union {
    LaneFn lane = nullptr;
    FragmentFn fragment;
    AtomicFn atomic;
    LoadFn load;
    StoreFn store;
  };
  OperandRef dst = kNoOperand, dst2 = kNoOperand;
  OperandRef a = kNoOperand, b = kNoOperand, c = kNoOperand, d = kNoOperand;
  OperandRef guard = kNoOperand;
  std::uint32_t target = kNowhere;  // of branches; first of `lists` for vectors and tables
  std::uint32_t meet = kNowhere;    // where diverged lanes meet again
  std::int64_t imm = 0;             // offset of addresses, and whatever an exec needs
  std::uint32_t list_size = 0;
  std::uint32_t aux = 0;   // whatever an exec needs
  std::uint32_t slot = 0;  // into the counters of memory, branches and barriers
  bool guard_negated = false;
  bool always = false;         // exec is called though no lane's guard holds
  std::uint8_t bytes = 0;      // of one element in memory
  std::uint8_t count = 1;      // elements of a vector
  std::uint8_t dst_bytes = 0;  // of a lane of the destination: 0 is a predicate
  std::uint8_t flags = 0;      // InstructionFlag
  Type type = Type::none;
  Space space = Space::generic;
  Pipe pipe = Pipe::control;
  std::uint32_t flops = 0;
  int line = 0;  // of the PTX
  int source = -1;
};

enum InstructionFlag : std::uint8_t {
  kStrong = 1,  // volatile, relaxed, acquire, release, atomic: no data race by itself
  kAcquire = 2,
  kRelease = 4,
  kWideAddress = 8,  // the address register has 64 bits a lane
  kStore = 16,
  kAtomic = 32,
  kNegateC = 64,     // the predicate in c (or a, where there is only one) is negated
  kPerThread = 128,  // barrier without .aligned
};

// Places of the special registers, in 128-byte rows of a warp's special area.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  laneid,
  warpid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,  // of the warp
  ntid_x,
  ntid_y,
  ntid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  nwarpid,
  nsmid,
  gridid,
  dynamic_smem,
  total_smem,
  zero,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  explicit_cluster,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  smid,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  envreg1,
  envreg2,
  count
};

struct alignas(64) RegisterChunk {
  std::byte bytes[64];
};

class Function {
 public:
  const Module* module = nullptr;
  const ParsedFunction* parsed = nullptr;
  std::string name;
  std::uint32_t first = 0, end = 0;  // of the module's code
  std::uint32_t register_bytes = 0;  // of a warp
  std::uint32_t frame_bytes = 0;     // of a thread: .local, .param of calls, own parameters
  std::uint32_t shared_bytes = 0;    // static
  bool uses_dynamic_shared = false, calls = false;
  std::vector<std::uint32_t> variable_offsets;  // of parsed->variables, in their space
  std::vector<std::uint32_t> param_offsets, param_sizes;
  std::uint32_t param_bytes = 0;
  std::uint64_t address = 0;  // what a pointer to the function is
};

// What a kernel calls that the device provides.
enum class Builtin : std::uint8_t { none, vprintf, assertfail, malloc, free };

struct CallSite {
  const Function* target = nullptr;  // nullptr: by address
  Builtin builtin = Builtin::none;
  std::vector<std::uint32_t> arguments, results;  // offsets in the caller's frame
  std::vector<std::uint32_t> argument_sizes, result_sizes;
};

class Module {
 public:
  std::string name;
  std::unique_ptr<ParsedModule> parsed;
  std::vector<Instruction> code;
  std::vector<std::uint32_t> lists;
  std::vector<RegisterChunk> constants;
  std::vector<Function> functions;
  std::vector<CallSite> calls;
  std::vector<FragmentMap> fragment_maps;
  std::unordered_map<std::string, std::uint32_t> function_index;
  std::vector<std::byte*> variable_places;  // of parsed->variables that are .global or .const
  std::uint32_t slots = 0;                  // of counters
  std::uint32_t deepest_frame = 0;          // bytes of local memory that calls without recursion need at most
  bool recursive = false;
  [[nodiscard]] std::string file_of(int source) const;
  [[nodiscard]] int line_of(int source) const;
};

// Generic addresses: those of shared and local memory have a tag in their highest bits, which no address of the host has; all
// others are the host's. A shared address holds the rank of its block in the cluster in bits 32 to 47.
inline constexpr std::uint64_t kSharedTag = 1ull << 60, kLocalTag = 2ull << 60, kFunctionTag = 3ull << 60, kTagMask = 15ull << 60;

}  // namespace kw::vgpu
