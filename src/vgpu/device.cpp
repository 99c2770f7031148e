#include "vgpu/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "vgpu/decode.h"
#include "vgpu/launch_counters.h"
#include "vgpu/ptx_parser.h"
#include "vgpu/scheduler.h"
#include "vgpu/surroundings.h"

namespace kw::vgpu {

struct Device::Impl {
  DeviceOptions options;
  Memory memory;
  CacheModel l2;
  ThreadPool pool;
  std::mutex launch_mutex;  // one launch at a time
  std::mutex module_mutex;
  std::vector<std::unique_ptr<Module>> modules;
  std::function<void(std::string_view)> print;
  std::size_t heap_limit = 8u << 20;
  std::uint64_t launches = 0, allocations = 0;
  std::uint64_t l2_bytes = 0;

  Status place_variables(Module& module);
  Status relocate(Module& module);
};

namespace {

constexpr std::uint32_t kMostLocal = 1u << 19;
constexpr std::uint64_t kLaunchTags = 4095;  // launches that shadows can tell apart: 12 bits, and 0 is nobody
constexpr std::size_t kMostFilled = std::size_t{256}
                                    << 20;        // of an allocation: pages of a large pool that nobody uses cost nothing
constexpr std::uint32_t kRecursiveStack = 16384;  // of a thread, where the depth of calls is not known

int host_threads(const DeviceOptions& options) {
  return options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

Finding limit_finding(const Function& function, std::string message) {
  Finding finding;
  finding.kind = "launch_limit";
  finding.message = std::move(message);
  finding.kernel = function.name;
  finding.file = function.module->parsed->files.empty() ? std::string() : function.module->parsed->files.begin()->second;
  finding.ptx_line = function.parsed->line;
  finding.fatal = true;
  return finding;
}

std::string shape_text(Dim3 shape) { return fmt::format("({}, {}, {})", shape.x, shape.y, shape.z); }

// What is wrong with the shape of a launch; empty where nothing is.
std::string launch_problem(const Function& function, const Limits& limits, Dim3 grid, Dim3 block, std::uint32_t dynamic_shared,
                           Dim3 cluster) {
  const std::uint64_t threads = static_cast<std::uint64_t>(block.x) * block.y * block.z;
  const ParsedFunction& parsed = *function.parsed;
  if (threads == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
    return fmt::format("a grid of {} blocks of {} threads has nothing to run", shape_text(grid), shape_text(block));
  }
  if (threads > static_cast<std::uint64_t>(limits.max_threads_per_block) || block.x > 1024 || block.y > 1024 || block.z > 64) {
    return fmt::format("a block of {} threads {}; at most {} and (1024, 1024, 64) are possible", threads, shape_text(block),
                       limits.max_threads_per_block);
  }
  if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) {
    return fmt::format("a grid of {} blocks; at most (2147483647, 65535, 65535) are possible", shape_text(grid));
  }
  const std::uint64_t bound =
      static_cast<std::uint64_t>(parsed.max_threads[0]) * std::max(parsed.max_threads[1], 1u) * std::max(parsed.max_threads[2], 1u);
  if (bound != 0 && threads > bound)
    return fmt::format("{} threads in a block; the kernel is compiled for at most {} (__launch_bounds__)", threads, bound);
  const std::uint32_t* required = parsed.required_threads;
  if (required[0] != 0 && (block.x != required[0] || block.y != required[1] || block.z != required[2])) {
    return fmt::format("a block of {}; the kernel requires ({}, {}, {})", shape_text(block), required[0], required[1], required[2]);
  }
  const std::uint64_t shared = static_cast<std::uint64_t>(function.shared_bytes) + dynamic_shared;
  if (function.shared_bytes > limits.shared_per_block) {
    return fmt::format("{} bytes of static shared memory; a block has {}", function.shared_bytes, limits.shared_per_block);
  }
  if (shared > limits.shared_per_block_optin) {
    return fmt::format("{} bytes of shared memory ({} static, {} dynamic); a block has at most {}", shared, function.shared_bytes,
                       dynamic_shared, limits.shared_per_block_optin);
  }
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
      grid.z % cluster.z != 0) {
    return fmt::format("a grid of {} blocks is no multiple of clusters of {}", shape_text(grid), shape_text(cluster));
  }
  if (static_cast<std::uint64_t>(cluster.x) * cluster.y * cluster.z > 16)
    return fmt::format("a cluster of {} blocks; at most 16 are possible", shape_text(cluster));
  return {};
}

std::uint64_t resident_blocks(const Launch& launch) {
  const Limits& limits = launch.options.limits;
  std::uint64_t per_sm = static_cast<std::uint64_t>(std::max(1, limits.max_threads_per_sm / static_cast<int>(launch.warps * 32)));
  per_sm = std::min(per_sm, static_cast<std::uint64_t>(limits.max_blocks_per_sm));
  if (launch.shared_bytes > 0) per_sm = std::min(per_sm, std::max<std::uint64_t>(1, limits.shared_per_sm / launch.shared_bytes));
  return std::max<std::uint64_t>(1, per_sm * static_cast<std::uint64_t>(limits.sm_count));
}

}  // namespace

Device::Device(DeviceOptions options) : impl_(std::make_unique<Impl>()) { impl_->options = options; }
Device::~Device() = default;
const DeviceOptions& Device::options() const { return impl_->options; }
DeviceOptions& Device::mutable_options() { return impl_->options; }
void Device::set_printf_sink(std::function<void(std::string_view)> sink) { impl_->print = std::move(sink); }
void Device::set_heap_limit(std::size_t bytes) { impl_->heap_limit = bytes; }

Status Device::Impl::place_variables(Module& module) {
  for (const ParsedVariable& variable : module.parsed->variables) {
    module.variable_places.push_back(nullptr);
    if (variable.space != Space::global && variable.space != Space::constant) continue;
    if (variable.external && variable.bytes == 0) continue;
    KW_TRY(std::byte * place, memory.allocate(variable.bytes, variable.name, options.limits.global_bytes));
    std::memset(place, 0, variable.bytes);
    if (!variable.initial.empty())
      std::memcpy(place, variable.initial.data(), std::min<std::size_t>(variable.initial.size(), variable.bytes));
    memory.note_write(place, variable.bytes);
    if (kw::vgpu::Allocation* allocation = memory.find(reinterpret_cast<std::uint64_t>(place)))
      allocation->read_only = variable.space == Space::constant;
    module.variable_places.back() = place;
  }
  return relocate(module);
}

Status Device::Impl::relocate(Module& module) {
  const ParsedModule& parsed = *module.parsed;
  for (std::size_t i = 0; i < parsed.variables.size(); ++i) {
    for (const ParsedVariable::Address& address : parsed.variables[i].addresses) {
      std::uint64_t value = 0;
      if (const auto variable = parsed.variable_index.find(address.symbol); variable != parsed.variable_index.end()) {
        value = reinterpret_cast<std::uint64_t>(module.variable_places[static_cast<std::size_t>(variable->second)]);
      } else if (const auto function = parsed.function_index.find(address.symbol); function != parsed.function_index.end()) {
        value = kFunctionTag | (static_cast<std::uint64_t>(function->second) + 1);
      } else {
        return bad_input(
            fmt::format("{}, PTX line {}: there is nothing named '{}'", module.name, parsed.variables[i].line, address.symbol));
      }
      value = (value + static_cast<std::uint64_t>(address.addend)) >> address.shift;
      if (module.variable_places[i] != nullptr)
        std::memcpy(module.variable_places[i] + address.offset, &value, static_cast<std::size_t>(std::min(address.bytes, 8)));
    }
  }
  return {};
}

Result<const Module*> Device::load(std::string_view ptx, std::string name) {
  KW_TRY(std::unique_ptr<ParsedModule> parsed, parse_ptx(std::string(ptx)));
  auto module = std::make_unique<Module>();
  module->name = std::move(name);
  module->parsed = std::move(parsed);
  Status done = impl_->place_variables(*module);
  if (done) done = decode_module(*module);
  if (!done) {
    for (std::byte* place : module->variable_places) {
      if (place != nullptr) (void)impl_->memory.release(place);
    }
    return std::move(done.error());
  }
  const std::lock_guard lock(impl_->module_mutex);
  impl_->modules.push_back(std::move(module));
  return impl_->modules.back().get();
}

Status Device::unload(const Module& module) {
  const std::lock_guard launching(impl_->launch_mutex);
  const std::lock_guard lock(impl_->module_mutex);
  for (auto& known : impl_->modules) {
    if (known.get() != &module) continue;
    for (std::byte* place : known->variable_places) {
      if (place != nullptr) KW_CHECK(impl_->memory.release(place));
    }
    known = std::move(impl_->modules.back());
    impl_->modules.pop_back();
    return {};
  }
  return bad_input("the module is not loaded");
}

Result<std::byte*> Device::allocate(std::size_t bytes, std::string name, bool read_only) {
  KW_TRY(std::byte * place, impl_->memory.allocate(bytes, std::move(name), impl_->options.limits.global_bytes, read_only));
  fill(place, std::min(bytes, kMostFilled), fill_of(impl_->options.seed, ++impl_->allocations, 0));
  return place;
}
void Device::forget_writes(const void* pointer) { impl_->memory.forget_writes(pointer); }
std::size_t Device::unwritten(const void* pointer) const { return impl_->memory.unwritten(pointer); }
void Device::keep_from_host() { impl_->memory.use_pages(); }
void Device::open_memory() { impl_->memory.open(); }
void Device::close_memory() { impl_->memory.close(); }
void Device::start_threads() {
  const int threads = host_threads(impl_->options);
  impl_->pool.run(threads, [](int) {});
}
Status Device::release(void* pointer) { return impl_->memory.release(pointer); }
Status Device::adopt(void* pointer, std::size_t bytes, std::string name) {
  return impl_->memory.adopt(pointer, bytes, std::move(name));
}
void Device::disown(void* pointer) { impl_->memory.disown(pointer); }
void Device::note_host_write(const void* pointer, std::size_t bytes) { impl_->memory.note_write(pointer, bytes); }
std::size_t Device::bytes_in_use() const { return impl_->memory.in_use(); }

Device::Allocation Device::find_allocation(const void* pointer) const {
  const kw::vgpu::Allocation* found = impl_->memory.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == nullptr) return {};
  return {found->begin, found->bytes, found->name};
}

Status Device::check_range(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const kw::vgpu::Allocation* found = impl_->memory.find(address);
  if (found == nullptr) return bad_input("the address is " + impl_->memory.describe(address, nullptr));
  const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(found->begin);
  if (bytes > found->bytes - offset) {
    return bad_input(fmt::format("{} bytes from byte {} of '{}', which has {} bytes", bytes, offset, found->name, found->bytes));
  }
  return {};
}

Result<std::byte*> Device::symbol(const Module& module, std::string_view global_name, std::size_t* bytes) {
  const auto found = module.parsed->variable_index.find(std::string(global_name));
  if (found == module.parsed->variable_index.end() || module.variable_places[static_cast<std::size_t>(found->second)] == nullptr) {
    return bad_input(fmt::format("{} has no variable '{}'", module.name, global_name));
  }
  if (bytes != nullptr) *bytes = module.parsed->variables[static_cast<std::size_t>(found->second)].bytes;
  return module.variable_places[static_cast<std::size_t>(found->second)];
}

Result<const Function*> Device::kernel(const Module& module, std::string_view name) const {
  const auto found = module.function_index.find(std::string(name));
  if (found == module.function_index.end() || !module.functions[found->second].parsed->entry) {
    return bad_input(fmt::format("{} has no kernel '{}'", module.name, name));
  }
  return &module.functions[found->second];
}

std::vector<const Function*> Device::kernels(const Module& module) const {
  std::vector<const Function*> all;
  for (const Function& function : module.functions) {
    if (function.parsed->entry && function.parsed->defined) all.push_back(&function);
  }
  return all;
}

KernelFacts Device::facts(const Function& function) const {
  KernelFacts facts;
  facts.name = function.name;
  facts.static_shared = function.shared_bytes;
  facts.local_bytes = function.frame_bytes;
  facts.param_bytes = function.param_bytes;
  facts.param_offsets = function.param_offsets;
  facts.param_sizes = function.param_sizes;
  const ParsedFunction& parsed = *function.parsed;
  facts.max_threads = parsed.max_threads[0] * std::max(parsed.max_threads[1], 1u) * std::max(parsed.max_threads[2], 1u);
  facts.required_threads = {parsed.required_threads[0], parsed.required_threads[1], parsed.required_threads[2]};
  if (parsed.required_threads[0] != 0) {
    facts.max_threads = parsed.required_threads[0] * parsed.required_threads[1] * parsed.required_threads[2];
  }
  for (const Type type : parsed.registers) facts.registers += lane_bytes(type) / 4;
  return facts;
}

Result<LaunchReport> Device::launch(const Function& function, Dim3 grid, Dim3 block, std::uint32_t dynamic_shared,
                                    std::span<const std::byte> params, Dim3 cluster) {
  const std::lock_guard launching(impl_->launch_mutex);
  LaunchReport report;
  const DeviceOptions& options = impl_->options;
  if (cluster == Dim3{} && function.parsed->cluster[0] != 0) {
    cluster = {function.parsed->cluster[0], function.parsed->cluster[1], function.parsed->cluster[2]};
  }
  if (params.size() < function.param_bytes) {
    return bad_input(
        fmt::format("'{}' takes {} bytes of parameters; {} are given", function.name, function.param_bytes, params.size()));
  }
  if (std::string problem = launch_problem(function, options.limits, grid, block, dynamic_shared, cluster); !problem.empty()) {
    report.findings.push_back(limit_finding(function, std::move(problem)));
    return report;
  }
  Launch launch;
  launch.function = &function;
  launch.module = function.module;
  launch.grid = grid;
  launch.block = block;
  launch.cluster = cluster;
  launch.block_count = static_cast<std::uint64_t>(grid.x) * grid.y * grid.z;
  launch.threads = block.x * block.y * block.z;
  launch.warps = (launch.threads + 31) / 32;
  launch.dynamic_shared = dynamic_shared;
  launch.dynamic_offset = (function.shared_bytes + 15) / 16 * 16;
  launch.shared_bytes = dynamic_shared == 0 ? function.shared_bytes : launch.dynamic_offset + dynamic_shared;
  const Module& module = *function.module;
  launch.local_bytes = function.calls ? module.deepest_frame + (module.recursive ? kRecursiveStack : 0) : function.frame_bytes;
  launch.local_bytes = (launch.local_bytes + 63) / 64 * 64;
  if (launch.local_bytes > kMostLocal) {
    report.findings.push_back(limit_finding(
        function, fmt::format("{} bytes of local memory for a thread; at most {} are possible", launch.local_bytes, kMostLocal)));
    return report;
  }
  launch.params.resize(std::max<std::size_t>(params.size(), 1) / sizeof(RegisterChunk) + 1);
  if (!params.empty()) std::memcpy(launch.params.data(), params.data(), params.size());
  launch.options = options;
  launch.memory = &impl_->memory;
  launch.print = impl_->print;
  launch.heap_limit = impl_->heap_limit;
  launch.id = ++impl_->launches;
  launch.seed = mixed(options.seed, launch.id);
  launch.tag = static_cast<std::uint16_t>(launch.id % kLaunchTags + 1);
  if (launch.id % kLaunchTags == 0) impl_->memory.forget_accesses();
  if (options.counters && impl_->l2_bytes != options.limits.l2_bytes) {
    impl_->l2.resize(options.limits.l2_bytes);
    impl_->l2_bytes = options.limits.l2_bytes;
  } else if (options.counters) {
    impl_->l2.clear();
  }
  launch.l2 = &impl_->l2;
  const std::uint64_t teams = launch.block_count / (static_cast<std::uint64_t>(cluster.x) * cluster.y * cluster.z);
  launch.order = TeamOrder(launch.seed, teams);
  const int threads = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(host_threads(options)), teams));
  launch.single_thread = threads == 1;
  launch.start = std::chrono::steady_clock::now();
  launch.has_deadline = options.launch_deadline_seconds > 0;
  if (launch.has_deadline) {
    launch.deadline = launch.start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                         std::chrono::duration<double>(options.launch_deadline_seconds));
  }
  launch.is_sample = options.sample_seconds > 0;
  if (launch.is_sample) {
    launch.enough = launch.start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                       std::chrono::duration<double>(options.sample_seconds));
  }
  // A kernel may take the address of its parameters.
  KW_CHECK(
      impl_->memory.adopt(launch.params.data(), launch.params.size() * sizeof(RegisterChunk), "the kernel's parameters", true));
  launch.grid_workspace.assign(4, RegisterChunk{});
  KW_CHECK(impl_->memory.adopt(launch.grid_workspace.data(), launch.grid_workspace.size() * sizeof(RegisterChunk),
                               "the grid's barrier"));
  std::vector<Worker> in_order(static_cast<std::size_t>(threads)), spread(launch.is_sample ? in_order.size() : 1);
  for (std::vector<Worker>* workers : {&in_order, &spread}) {
    for (Worker& worker : *workers) {
      worker.launch = &launch;
      if (!options.counters) continue;
      worker.counts.resize(module.code.size());
      worker.slots.resize(module.slots + 1);
    }
  }
  const std::uint64_t resident = std::max<std::uint64_t>(1, resident_blocks(launch) / static_cast<std::uint64_t>(threads));
  std::atomic<bool> out_of_memory{false};
  impl_->pool.run(threads, [&](int number) {
    try {
      const auto own = static_cast<std::size_t>(number);
      run_blocks(launch, in_order[own], spread[launch.is_sample ? own : 0], resident);
    } catch (const std::bad_alloc&) {
      out_of_memory = launch.stop = true;
    }
  });
  impl_->memory.disown(launch.params.data());
  impl_->memory.disown(launch.grid_workspace.data());
  if (out_of_memory)
    return bad_input(fmt::format("the machine has not enough memory to run '{}'", function.name), "use smaller blocks");
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - launch.start).count();
  report.blocks = launch.block_count;
  for (const std::vector<Worker>* workers : {&in_order, &spread})
    for (const Worker& worker : *workers) report.blocks_run += worker.blocks;
  for (auto& [key, finding] : launch.findings) report.findings.push_back(std::move(finding));
  // What stopped the launch comes first.
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.fatal && !b.fatal; });
  if (options.counters) report.counters = launch_counters(launch, in_order, spread);
  return report;
}

}  // namespace kw::vgpu
