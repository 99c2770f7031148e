// The functions that execute instructions, as decode hands them out. Which fields of Instruction each one uses stands in its file.
#pragma once

#include "vgpu/program.h"

namespace kw::vgpu {

// exec_lane.cpp: everything that only computes
bool exec_lane(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_fragment(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_copy(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_resize(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_pack(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_unpack(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_predicate_logic(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_broadcast(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_clock(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_isspacep(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cvta(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_nothing(Warp& warp, const Instruction& instruction, std::uint32_t mask);

// exec_control.cpp
bool exec_join(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_bra(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_brx(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_call(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_ret(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_exit(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_trap(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_unsupported(Warp& warp, const Instruction& instruction, std::uint32_t mask);

// exec_memory.cpp, exec_atomic.cpp, exec_matrix.cpp, exec_async.cpp
bool exec_ld(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_st(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_ld_param(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_atom(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cas(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_atom128(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_fence(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_ldmatrix(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_stmatrix(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_wmma_load(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_wmma_store(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_wgmma(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cp_async(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cp_commit(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cp_wait(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cp_mbarrier(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cp_bulk(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cp_tensor(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool complete_bytes(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address, std::uint32_t bytes);
bool exec_mbarrier(Warp& warp, const Instruction& instruction, std::uint32_t mask);

// exec_sync.cpp: barriers of blocks; exec_shuffle.cpp: lanes of a warp with each other
bool exec_bar(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_nanosleep(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_cluster_barrier(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_warp_sync(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_shfl(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_vote(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_match(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_redux(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_activemask(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_elect(Warp& warp, const Instruction& instruction, std::uint32_t mask);
bool exec_mapa(Warp& warp, const Instruction& instruction, std::uint32_t mask);

// What exec_broadcast writes, in Instruction::aux.
enum BroadcastKind : std::uint32_t { kBroadcastLocal, kBroadcastParam, kBroadcastDynamicShared, kBroadcastLiteral };
// What exec_clock reads, in aux.
enum ClockKind : std::uint32_t { kClock, kClockHigh, kClock64, kGlobalTimer, kGlobalTimerLow, kGlobalTimerHigh };
// exec_predicate_logic, in aux.
enum PredicateOp : std::uint32_t { kPredAnd, kPredOr, kPredXor, kPredNot, kPredCopy };
// exec_bar, in aux.
enum BarKind : std::uint32_t { kBarSync, kBarArrive, kBarRedAnd, kBarRedOr, kBarRedPopc };
// exec_shfl and exec_vote and exec_redux, in aux.
enum ShflKind : std::uint32_t { kShflUp, kShflDown, kShflBfly, kShflIdx };
enum VoteKind : std::uint32_t { kVoteAll, kVoteAny, kVoteUni, kVoteBallot };
// exec_mbarrier, in aux.
enum MbarrierKind : std::uint32_t {
  kMbarInit,
  kMbarInval,
  kMbarArrive,
  kMbarArriveDrop,
  kMbarExpectTx,
  kMbarCompleteTx,
  kMbarArriveExpectTx,
  kMbarTest,
  kMbarTestParity,
  kMbarPending
};

// A word of the shadow of global memory: who accessed 4 bytes last in this launch.
//   bits 0-31 block, 32-35 which of the bytes, 36-50 the block's fences so far, 51 other blocks too (readers), 52-63 launch
inline constexpr std::uint64_t kShadowMany = 1ull << 51, kShadowBytes = 15ull << 32, kShadowBlock = 0xffffffffull;

// Chosen for the processor (lane_moves_hot.cpp).
struct LaneMoves {
  void (*blend32)(void* dst, const void* src, std::uint32_t mask);
  void (*blend64)(void* dst, const void* src, std::uint32_t mask);
  // places[lane] = base[lane] + offset; true where the lanes of a full warp lie `bytes` apart without gaps
  bool (*places64)(std::uint64_t* places, const void* base, std::int64_t offset, std::uint32_t bytes);
  bool (*places32)(std::uint64_t* places, const void* base, std::int64_t offset, std::uint32_t bytes);
  // Least and largest of the places of the mask's lanes; the mask is not empty.
  void (*extent)(const std::uint64_t* places, std::uint32_t mask, std::uint64_t* least, std::uint64_t* largest);
  // 32 times `count` 32-bit words that lie lane by lane to `count` registers, and back.
  void (*split32)(void* const* dst, const void* from, int count);
  void (*merge32)(void* to, const void* const* src, int count);
  // Who accesses words of global memory, noted in their shadows (checks.cpp); false: another block did before, and nothing is
  // noted.
  bool (*note_access)(std::uint64_t* writers, std::uint64_t* readers, std::size_t count, std::uint64_t mine, bool writes);
};
const LaneMoves& lane_moves();
LoadFn find_load(Type type, int register_bytes);  // nullptr where there is no such move
StoreFn find_store(int bytes, int register_bytes);

}  // namespace kw::vgpu
