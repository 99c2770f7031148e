#include "vgpu/memory.h"

#include <sys/mman.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace kw::vgpu {
namespace {

constexpr std::size_t kRedZone = 512;  // between allocations: an access that runs past one is in none
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kFreedRemembered = 4096;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostKept = std::size_t{32} << 20;  // words of shadows that wait for another allocation

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

std::uint64_t* ShadowStore::take(std::size_t words) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(words);
    if (found != kept_.end()) {
      std::uint64_t* shadow = found->second;
      kept_.erase(found);
      kept_words_ -= words;
      return shadow;
    }
  }
  return static_cast<std::uint64_t*>(std::calloc(words, sizeof(std::uint64_t)));
}

void ShadowStore::give(std::uint64_t* shadow, std::size_t words) {
  if (shadow == nullptr) return;
  const std::lock_guard lock(mutex_);
  while (!kept_.empty() && kept_words_ + words > kMostKept) {
    kept_words_ -= kept_.begin()->first;
    std::free(kept_.begin()->second);
    kept_.erase(kept_.begin());
  }
  if (words > kMostKept) return std::free(shadow);
  kept_.emplace(words, shadow);
  kept_words_ += words;
}

void ShadowStore::clear() {
  const std::lock_guard lock(mutex_);
  for (const auto& [words, shadow] : kept_) std::free(shadow);
  kept_.clear();
  kept_words_ = 0;
}

Allocation::~Allocation() {
  std::free(initialised.load());
  if (store != nullptr)
    for (std::uint64_t* shadow : {writers.load(), readers.load()}) store->give(shadow, shadow_words());
  if (mapped != 0)
    ::munmap(storage, mapped);
  else
    std::free(storage);
}

std::uint8_t* Allocation::initialised_bytes() {
  std::uint8_t* bytes_known = initialised.load(std::memory_order_acquire);
  if (bytes_known != nullptr) return bytes_known;
  auto* fresh = static_cast<std::uint8_t*>(std::calloc(bytes + 8, 1));
  if (fresh != nullptr && all_initialised.load()) std::memset(fresh, 1, bytes);
  if (initialised.compare_exchange_strong(bytes_known, fresh)) return fresh;
  std::free(fresh);
  return bytes_known;
}

std::uint64_t* Allocation::shadow(std::atomic<std::uint64_t*>& which) {
  std::uint64_t* known = which.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  std::uint64_t* fresh = store->take(shadow_words());
  if (which.compare_exchange_strong(known, fresh)) return fresh;
  store->give(fresh, shadow_words());
  return known;
}

Result<std::byte*> Memory::allocate(std::size_t bytes, std::string name, std::size_t limit, bool read_only) {
  std::unique_lock lock(mutex_);
  if (bytes > limit || in_use_ > limit - bytes) {
    return bad_input(fmt::format("'{}' asks for {} bytes with {} in use of {}", name, bytes, in_use_, limit), "use smaller shapes");
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->store = &shadows_;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (paged_) {
    allocation->mapped = (rounded + 2 * kRedZone + kPage - 1) / kPage * kPage;
    void* pages = ::mmap(nullptr, allocation->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    allocation->storage = pages == MAP_FAILED ? nullptr : pages;
  } else {
    allocation->storage = std::aligned_alloc(kAlignment, rounded + 2 * kRedZone);
  }
  if (allocation->storage == nullptr)
    return bad_input(fmt::format("the machine has no {} bytes for '{}'", bytes, name), "use smaller shapes");
  allocation->begin = static_cast<std::byte*>(allocation->storage) + kRedZone;
  allocation->bytes = bytes;
  allocation->name = std::move(name);
  allocation->read_only = read_only;
  std::byte* begin = allocation->begin;
  in_use_ += bytes;
  by_begin_[address_of(begin)] = std::move(allocation);
  generation_.fetch_add(1);
  return begin;
}

Status Memory::adopt(void* pointer, std::size_t bytes, std::string name, bool read_only) {
  std::unique_lock lock(mutex_);
  auto allocation = std::make_unique<Allocation>();
  allocation->store = &shadows_;
  allocation->begin = static_cast<std::byte*>(pointer);
  allocation->bytes = bytes;
  allocation->name = std::move(name);
  allocation->owned = false;
  allocation->read_only = read_only;
  allocation->all_initialised = true;
  by_begin_[address_of(pointer)] = std::move(allocation);
  generation_.fetch_add(1);
  return {};
}

void Memory::disown(void* pointer) {
  std::unique_lock lock(mutex_);
  const auto found = by_begin_.find(address_of(pointer));
  if (found == by_begin_.end() || found->second->owned) return;
  by_begin_.erase(found);
  generation_.fetch_add(1);
}

Status Memory::release(void* pointer) {
  std::unique_lock lock(mutex_);
  const auto found = by_begin_.find(address_of(pointer));
  if (found == by_begin_.end()) {
    for (const Freed& freed : freed_) {
      if (freed.begin == address_of(pointer)) return bad_input(fmt::format("'{}' is released twice", freed.name));
    }
    return bad_input(fmt::format("{} is no allocation's beginning", pointer), "release what allocate returned");
  }
  freed_.push_front({found->first, found->second->bytes, found->second->name});
  if (freed_.size() > kFreedRemembered) freed_.pop_back();
  if (found->second->owned) in_use_ -= found->second->bytes;
  by_begin_.erase(found);
  generation_.fetch_add(1);
  return {};
}

Allocation* Memory::find(std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto after = by_begin_.upper_bound(address);
  if (after == by_begin_.begin()) return nullptr;
  Allocation* allocation = std::prev(after)->second.get();
  return address - address_of(allocation->begin) < allocation->bytes ? allocation : nullptr;
}

void Memory::note_write(const void* pointer, std::size_t bytes) {
  Allocation* allocation = find(address_of(pointer));
  if (allocation == nullptr || allocation->all_initialised.load()) return;
  const std::size_t offset = address_of(pointer) - address_of(allocation->begin);
  bytes = std::min(bytes, allocation->bytes - offset);
  if (bytes == allocation->bytes) {
    allocation->all_initialised = true;
    return;
  }
  if (std::uint8_t* known = allocation->initialised_bytes()) std::memset(known + offset, 1, bytes);
}

void Memory::forget_accesses() {
  std::unique_lock lock(mutex_);
  shadows_.clear();
  for (const auto& [begin, allocation] : by_begin_)
    for (std::uint64_t* shadow : {allocation->writers.load(), allocation->readers.load()})
      if (shadow != nullptr) std::memset(shadow, 0, allocation->shadow_words() * sizeof(std::uint64_t));
}

void Memory::protect(int protection) const {
  for (const auto& [begin, allocation] : by_begin_)
    if (allocation->mapped != 0) ::mprotect(allocation->storage, allocation->mapped, protection);
}

void Memory::open() {
  std::unique_lock lock(mutex_);
  if (paged_ && ++opened_ == 1) protect(PROT_READ | PROT_WRITE);
}

void Memory::close() {
  std::unique_lock lock(mutex_);
  if (paged_ && --opened_ == 0) protect(PROT_NONE);
}

void Memory::forget_writes(const void* pointer) {
  Allocation* allocation = find(address_of(pointer));
  if (allocation == nullptr) return;
  allocation->all_initialised = false;
  if (std::uint8_t* known = allocation->initialised_bytes()) std::memset(known, 0, allocation->bytes);
}

std::size_t Memory::unwritten(const void* pointer) const {
  Allocation* allocation = find(address_of(pointer));
  if (allocation == nullptr || allocation->all_initialised.load()) return 0;
  const std::uint8_t* known = allocation->initialised_bytes();
  return known == nullptr ? 0 : static_cast<std::size_t>(std::count(known, known + allocation->bytes, 0));
}

std::string Memory::describe(std::uint64_t address, std::string* nearest) const {
  std::shared_lock lock(mutex_);
  if (nearest != nullptr) nearest->clear();
  if (address < 65536) return address == 0 ? std::string("a null pointer") : fmt::format("a null pointer plus {} bytes", address);
  const auto after = by_begin_.upper_bound(address);
  const Allocation* before = after == by_begin_.begin() ? nullptr : std::prev(after)->second.get();
  const Allocation* behind = after == by_begin_.end() ? nullptr : after->second.get();
  const std::uint64_t past = before != nullptr ? address - address_of(before->begin) - before->bytes : UINT64_MAX;
  const std::uint64_t ahead = behind != nullptr ? address_of(behind->begin) - address : UINT64_MAX;
  for (const Freed& freed : freed_) {
    if (address - freed.begin < freed.bytes) {
      if (nearest != nullptr) *nearest = freed.name;
      return fmt::format("byte {} of '{}', which was freed", address - freed.begin, freed.name);
    }
  }
  constexpr std::uint64_t kFar = 1ull << 32;
  if (past <= ahead && past < kFar) {
    if (nearest != nullptr) *nearest = before->name;
    return fmt::format("byte {} of '{}', which has {} bytes", address - address_of(before->begin), before->name, before->bytes);
  }
  if (ahead < kFar) {
    if (nearest != nullptr) *nearest = behind->name;
    return fmt::format("{} bytes before '{}', which has {} bytes", ahead, behind->name, behind->bytes);
  }
  return fmt::format("0x{:x}, which is in no allocation", address);
}

std::size_t Memory::in_use() const {
  std::shared_lock lock(mutex_);
  return in_use_;
}

}  // namespace kw::vgpu
