// The allocations of a device and what is known about each of their bytes: initialised or not, and who accessed it in this launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "base/result.h"

namespace kw::vgpu {

// Shadows of memory that nobody needs any more, for the next allocation: fresh pages cost more than a launch over them. What stands
// in them is of launches that are over, and says so.
class ShadowStore {
 public:
  ShadowStore() = default;
  ShadowStore(const ShadowStore&) = delete;
  ShadowStore& operator=(const ShadowStore&) = delete;
  ~ShadowStore() { clear(); }
  std::uint64_t* take(std::size_t words);  // nullptr: the machine has no memory for it
  void give(std::uint64_t* shadow, std::size_t words);
  void clear();

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, std::uint64_t*> kept_;  // by words
  std::size_t kept_words_ = 0;
};

struct Allocation {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::string name;
  bool owned = true;  // else the host's
  bool read_only = false;
  void* storage = nullptr;
  std::size_t mapped = 0;  // bytes of the storage where it is pages of its own; 0: of the heap
  std::atomic<bool> all_initialised{false};
  std::atomic<std::uint8_t*> initialised{nullptr};  // a byte for each byte; made by the first that asks
  std::atomic<std::uint64_t*> writers{nullptr};     // for each 4 bytes; see global_races.cpp
  std::atomic<std::uint64_t*> readers{nullptr};
  ShadowStore* store = nullptr;  // where shadows come from and go to
  Allocation() = default;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation();
  std::uint8_t* initialised_bytes();
  std::uint64_t* shadow(std::atomic<std::uint64_t*>& which);
  [[nodiscard]] std::size_t shadow_words() const { return bytes / 4 + 2; }
};

class Memory {
 public:
  Result<std::byte*> allocate(std::size_t bytes, std::string name, std::size_t limit, bool read_only = false);
  Status release(void* pointer);
  Status adopt(void* pointer, std::size_t bytes, std::string name, bool read_only = false);
  void disown(void* pointer);  // the end of adopt
  void note_write(const void* pointer, std::size_t bytes);
  // Launches are told apart by a number that comes round again: before it does, what they left in shadows is wiped out.
  void forget_accesses();
  // From now on allocations are pages of their own, which close() takes from the host until open(). Both count: as many opens as
  // closes.
  void use_pages() { paged_ = true; }
  void open();
  void close();
  // Nothing of the allocation counts as written any more; how many of its bytes have not been written since.
  void forget_writes(const void* pointer);
  std::size_t unwritten(const void* pointer) const;

  // The allocation that holds the address; nullptr where there is none. Stays valid while nothing is released.
  Allocation* find(std::uint64_t address) const;
  // A sentence about an address that is in no allocation, and the name of the nearest one.
  std::string describe(std::uint64_t address, std::string* nearest) const;
  [[nodiscard]] std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  [[nodiscard]] std::size_t in_use() const;

 private:
  struct Freed {
    std::uint64_t begin = 0;
    std::size_t bytes = 0;
    std::string name;
  };
  void protect(int protection) const;
  mutable std::shared_mutex mutex_;
  bool paged_ = false;
  int opened_ = 1;
  ShadowStore shadows_;  // outlives the allocations
  std::map<std::uint64_t, std::unique_ptr<Allocation>> by_begin_;
  std::deque<Freed> freed_;
  std::size_t in_use_ = 0;
  std::atomic<std::uint64_t> generation_{1};
};

}  // namespace kw::vgpu
