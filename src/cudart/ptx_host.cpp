#include "cudart/ptx_host.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cudart/findings.h"
#include "cudart/runtime.h"
#include "vgpu/estimate.h"
#include "vgpu/report_json.h"

using namespace kw;  // NOLINT: the functions of this file are C's and stand outside of namespaces

struct kw_vgpu_device {
  std::mutex mutex;  // one call at a time: a launch's memory is known only while it runs
  vgpu::GpuSheet sheet;
  std::unique_ptr<vgpu::Device> device;
  cudart::FindingsLog log;
  std::string printed;
  vgpu::LaunchRecord last;
  int launches = 0;
  bool counted = false;
};

struct kw_vgpu_kernel {
  kw_vgpu_device* owner = nullptr;
  const vgpu::Module* module = nullptr;
  const vgpu::Function* function = nullptr;
  vgpu::KernelFacts facts;
  std::string tensor_kind;
  int registers = 0;
};

namespace kw::cudart {
namespace {

std::string& last_text() {
  thread_local std::string text;
  return text;
}

std::string in_words(const Error& error) { return error.hint.empty() ? error.message : error.message + "\n  try: " + error.hint; }

// No exception leaves the library: it becomes the text, and the answer is `otherwise`.
template <typename Answer, typename Body>
Answer guarded(Answer otherwise, Body&& body) noexcept {
  try {
    last_text().clear();
    Result<Answer> answer = body();
    if (answer) return *answer;
    last_text() = in_words(answer.error());
  } catch (const std::bad_alloc&) {
    last_text() = "out of memory";
  } catch (const std::exception& e) {
    last_text() = e.what();
  }
  return otherwise;
}

Result<kw_vgpu_device*> open_device(const char* gpu, const char* report_file) {
  auto opened = std::make_unique<kw_vgpu_device>();
  KW_TRY(opened->sheet, vgpu::load_gpu_sheet(gpu == nullptr || *gpu == '\0' ? vgpu::kDefaultGpu : std::string_view(gpu)));
  Settings settings;
  settings.quiet = true;  // the host tells what was found
  if (report_file != nullptr) settings.report_file = report_file;
  KW_CHECK(opened->log.open(settings));
  vgpu::DeviceOptions options;
  options.limits = vgpu::limits_of(opened->sheet);
  KW_TRY(options.seed, seed_from_environment());
  opened->device = std::make_unique<vgpu::Device>(options);
  opened->device->set_printf_sink([device = opened.get()](std::string_view text) { device->printed += text; });
  return opened.release();
}

Json sheet_json(const vgpu::GpuSheet& sheet, const vgpu::Limits& limits) {
  return {{"id", sheet.id},
          {"name", sheet.name},
          {"capability", {sheet.cc_major, sheet.cc_minor}},
          {"multiprocessors", sheet.sm_count},
          {"shared_bytes", limits.shared_per_block_optin},
          {"shared_bytes_per_multiprocessor", limits.shared_per_sm},
          {"registers", limits.registers_per_sm},
          {"threads", limits.max_threads_per_block},
          {"clock_khz", static_cast<std::int64_t>(sheet.boost_clock_mhz * 1000)},
          {"memory_bytes", sheet.memory_bytes},
          {"memory_gb_per_s", sheet.memory_gb_per_s},
          {"memory_bus_bits", sheet.memory_bus_bits}};
}

Result<kw_vgpu_kernel*> load_kernel(kw_vgpu_device& device, const char* ptx, const char* name, int registers) {
  auto kernel = std::make_unique<kw_vgpu_kernel>();
  KW_TRY(kernel->module, device.device->load(ptx, name));
  auto function = device.device->kernel(*kernel->module, name);
  if (!function) {
    KW_CHECK(device.device->unload(*kernel->module));
    return std::move(function.error());
  }
  kernel->owner = &device;
  kernel->function = *function;
  kernel->facts = device.device->facts(*kernel->function);
  kernel->tensor_kind = vgpu::tensor_kind_of(ptx);
  kernel->registers = registers;
  return kernel.release();
}

struct Range {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::string name;
};

// Those that overlap as one: views of the same memory, each with a beginning of its own.
std::vector<Range> joined(const kw_vgpu_range* ranges, std::size_t count) {
  std::vector<Range> sorted;
  for (std::size_t i = 0; i < count; ++i) {
    if (ranges[i].begin == nullptr || ranges[i].bytes == 0) continue;
    sorted.push_back({static_cast<std::byte*>(ranges[i].begin), ranges[i].bytes, ranges[i].name == nullptr ? "" : ranges[i].name});
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> all;
  for (Range& range : sorted) {
    if (all.empty() || range.begin >= all.back().begin + all.back().bytes) {
      all.push_back(std::move(range));
      continue;
    }
    Range& before = all.back();
    const std::byte* end = std::max<const std::byte*>(before.begin + before.bytes, range.begin + range.bytes);
    before.bytes = static_cast<std::size_t>(end - before.begin);
    if (before.name != range.name) before.name += ", " + range.name;
  }
  return all;
}

// The device knows the memory while this is there.
class Borrowed {
 public:
  Borrowed(vgpu::Device& device, std::vector<Range> ranges) : device_(device), ranges_(std::move(ranges)) {}
  ~Borrowed() {
    for (std::size_t i = 0; i < adopted_; ++i) device_.disown(ranges_[i].begin);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Status adopt() {
    for (; adopted_ < ranges_.size(); ++adopted_) {
      Range& range = ranges_[adopted_];
      KW_CHECK(device_.adopt(range.begin, range.bytes, std::move(range.name)));
    }
    return {};
  }

 private:
  vgpu::Device& device_;
  std::vector<Range> ranges_;
  std::size_t adopted_ = 0;
};

Result<int> launch_kernel(kw_vgpu_kernel& kernel, const std::uint32_t* shape, std::uint32_t dynamic_shared,
                          std::span<const std::byte> parameters, std::vector<Range> ranges) {
  kw_vgpu_device& device = *kernel.owner;
  const std::lock_guard lock(device.mutex);
  vgpu::LaunchRecord record;
  record.kernel = kernel.facts.name;
  record.grid = {shape[0], shape[1], shape[2]};
  record.block = {shape[3], shape[4], shape[5]};
  record.dynamic_shared = dynamic_shared;
  record.static_shared = kernel.facts.static_shared;
  record.local_bytes = kernel.facts.local_bytes;
  record.registers = kernel.registers;
  record.tensor_kind = kernel.tensor_kind;
  Borrowed memory(*device.device, std::move(ranges));
  KW_CHECK(memory.adopt());
  KW_TRY(record.report, device.device->launch(*kernel.function, record.grid, record.block, dynamic_shared, parameters));
  record.index = ++device.launches;
  device.log.launch(record);
  int answer = device.printed.empty() ? 0 : kw_vgpu_printed;
  if (!record.report.ok()) {
    last_text() = Json(record.report.findings).dump(-1, ' ', false, Json::error_handler_t::replace);
    answer |= kw_vgpu_findings;
  }
  device.counted = device.device->options().counters;
  if (device.counted) device.last = std::move(record);
  return answer;
}

double estimated_seconds(const kw_vgpu_device& device) {
  const vgpu::LaunchRecord& last = device.last;
  vgpu::LaunchShape shape;
  shape.blocks = std::uint64_t{last.grid.x} * last.grid.y * last.grid.z;
  shape.threads_per_block = static_cast<int>(last.block.x * last.block.y * last.block.z);
  shape.registers = last.registers;
  shape.shared = last.dynamic_shared + last.static_shared;
  shape.tensor_kind = last.tensor_kind;
  return vgpu::estimate_launch(device.sheet, last.report.counters, shape).seconds;
}

}  // namespace
}  // namespace kw::cudart

using kw::cudart::guarded;
using kw::cudart::last_text;

KW_CUDART const char* kw_vgpu_text(void) { return last_text().c_str(); }

KW_CUDART kw_vgpu_device* kw_vgpu_open(const char* gpu, const char* report_file) {
  return guarded<kw_vgpu_device*>(nullptr, [&] { return cudart::open_device(gpu, report_file); });
}

KW_CUDART void kw_vgpu_close(kw_vgpu_device* device) { delete device; }

KW_CUDART void kw_vgpu_set(kw_vgpu_device* device, int checks, int counters, int threads, double seconds) {
  const std::lock_guard lock(device->mutex);
  vgpu::DeviceOptions& options = device->device->mutable_options();
  options.checks = checks != 0;
  options.counters = counters != 0;
  options.threads = threads;
  options.launch_deadline_seconds = seconds;
}

KW_CUDART const char* kw_vgpu_describe(kw_vgpu_device* device) {
  return guarded<const char*>(nullptr, [&]() -> Result<const char*> {
    last_text() = cudart::sheet_json(device->sheet, device->device->options().limits).dump();
    return last_text().c_str();
  });
}

KW_CUDART kw_vgpu_kernel* kw_vgpu_load(kw_vgpu_device* device, const char* ptx, const char* name, int registers) {
  return guarded<kw_vgpu_kernel*>(nullptr, [&] { return cudart::load_kernel(*device, ptx, name, registers); });
}

KW_CUDART void kw_vgpu_unload(kw_vgpu_kernel* kernel) {
  if (kernel == nullptr) return;
  guarded<int>(0, [&]() -> Result<int> {
    const std::unique_ptr<kw_vgpu_kernel> owned(kernel);
    KW_CHECK(kernel->owner->device->unload(*kernel->module));
    return 0;
  });
}

KW_CUDART std::size_t kw_vgpu_parameters(const kw_vgpu_kernel* kernel, std::uint32_t* offsets, std::uint32_t* sizes,
                                         std::size_t capacity) {
  const vgpu::KernelFacts& facts = kernel->facts;
  for (std::size_t i = 0; i < std::min(capacity, facts.param_offsets.size()); ++i) {
    offsets[i] = facts.param_offsets[i];
    sizes[i] = facts.param_sizes[i];
  }
  return facts.param_offsets.size();
}

KW_CUDART int kw_vgpu_launch(kw_vgpu_kernel* kernel, const std::uint32_t* shape, std::uint32_t dynamic_shared,
                             const void* parameters, std::size_t parameter_bytes, const kw_vgpu_range* ranges,
                             std::size_t range_count) {
  return guarded<int>(kw_vgpu_failed, [&] {
    return cudart::launch_kernel(*kernel, shape, dynamic_shared, {static_cast<const std::byte*>(parameters), parameter_bytes},
                                 cudart::joined(ranges, range_count));
  });
}

KW_CUDART std::size_t kw_vgpu_take_printed(kw_vgpu_device* device) {
  return guarded<std::size_t>(0, [&]() -> Result<std::size_t> {
    const std::lock_guard lock(device->mutex);
    last_text() = std::exchange(device->printed, {});
    return last_text().size();
  });
}

KW_CUDART const char* kw_vgpu_counters(kw_vgpu_device* device) {
  return guarded<const char*>(nullptr, [&]() -> Result<const char*> {
    const std::lock_guard lock(device->mutex);
    if (!device->counted) return bad_input("no launch was counted", "turn counters on before it");
    last_text() = Json(device->last.report.counters).dump(-1, ' ', false, Json::error_handler_t::replace);
    return last_text().c_str();
  });
}

KW_CUDART double kw_vgpu_estimate(kw_vgpu_device* device) {
  return guarded<double>(-1, [&]() -> Result<double> {
    const std::lock_guard lock(device->mutex);
    if (!device->counted) return bad_input("no launch was counted", "turn counters on before it");
    return cudart::estimated_seconds(*device);
  });
}
