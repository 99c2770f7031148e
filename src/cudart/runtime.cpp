#include "cudart/runtime.h"

#include <unistd.h>

#include <cstring>

#include "vgpu/estimate.h"

namespace kw::cudart {
namespace {

// Half of the memory here: the shadow of what is initialised and the program itself need some too.
std::uint64_t memory_to_give() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2 : 4ull << 30;
}

// The text of one kernel, to the begin of the next.
std::string_view kernel_text(std::string_view ptx, const std::string& name) {
  const std::size_t at = ptx.find(".entry " + name + "(");
  if (at == std::string_view::npos) return ptx;
  const std::string_view body = ptx.substr(at, ptx.find(".entry ", at + 1) - at);
  return body.find("mma") != std::string_view::npos ? body : ptx;
}

// Registers that PTX declares are virtual, each written once: real kernels need far fewer.
constexpr int kRegistersGuess = 64;

}  // namespace

int& last_error() {
  thread_local int code = kSuccess;
  return code;
}

Runtime& Runtime::get() {
  static auto* runtime = new Runtime;  // NOLINT: lives to the end of the process on purpose
  return *runtime;
}

Code Runtime::start() {
  if (started_) return start_code_;
  started_ = true;
  const auto refuse = [&](const Error& error) {
    log_.error(error);
    return start_code_ = kInitializationError;
  };
  if (!settings_) {
    auto settings = settings_from_environment();
    if (!settings) return refuse(settings.error());
    settings_ = std::move(*settings);
  }
  if (auto opened = log_.open(*settings_); !opened) return refuse(opened.error());
  auto sheet = vgpu::load_gpu_sheet(settings_->gpu);
  if (!sheet) return refuse(sheet.error());
  sheet_ = std::move(*sheet);
  vgpu::DeviceOptions options;
  options.limits = vgpu::limits_of(sheet_, memory_to_give());
  options.checks = settings_->checks;
  options.counters = settings_->counters;
  options.threads = settings_->threads;
  options.launch_deadline_seconds = settings_->deadline_seconds;
  options.seed = settings_->seed;
  device_ = std::make_unique<vgpu::Device>(options);
  device_->set_printf_sink([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  return start_code_ = kSuccess;
}

Code Runtime::configure(const Settings& settings) {
  if (started_) return kInvalidValue;
  settings_ = settings;
  return start();
}

DeviceCode* Runtime::add_code(const FatbinWrapper* wrapper) {
  codes_.push_back(std::make_unique<DeviceCode>());
  codes_.back()->wrapper = wrapper;
  return codes_.back().get();
}

void Runtime::add_kernel(DeviceCode* code, const void* host, std::string name) {
  auto kernel = std::make_unique<Kernel>();
  kernel->host = host;
  kernel->name = std::move(name);
  kernel->code = code;
  kernel_handles_.insert(kernel.get());
  kernels_[host] = std::move(kernel);
}

void Runtime::add_variable(DeviceCode* code, Variable variable) { code->variables.push_back(std::move(variable)); }

void Runtime::remove_code(DeviceCode* code) {
  std::erase_if(kernels_, [&](const auto& entry) {
    if (entry.second->code != code) return false;
    kernel_handles_.erase(entry.second.get());
    return true;
  });
  if (device_ && code->module != nullptr) static_cast<void>(device_->unload(*code->module));
  std::erase_if(codes_, [&](const auto& owned) { return owned.get() == code; });
}

Code Runtime::load(DeviceCode& code) {
  if (code.loaded) return code.module != nullptr ? kSuccess : kInvalidPtx;
  code.loaded = true;
  const auto refuse = [&](const Error& error, Code with) {
    log_.error(error);
    return with;
  };
  if (code.wrapper == nullptr || code.wrapper->magic != kFatbinWrapperMagic || code.wrapper->data == nullptr)
    return refuse(bad_input("the program registers device code that is not nvcc's"), kInvalidKernelImage);
  if (code.wrapper->version != 1)
    return refuse(bad_input("the program was linked from relocatable device code (-rdc=true)",
                            "compile without -rdc=true: the virtual GPU links no device code"),
                  kInvalidKernelImage);
  const auto* begin = static_cast<const std::byte*>(code.wrapper->data);
  auto size = fatbin_bytes({begin, 16});
  if (!size) return refuse(size.error(), kInvalidKernelImage);
  auto images = read_fatbin({begin, *size});
  if (!images) return refuse(images.error(), kInvalidKernelImage);
  auto image = choose_ptx(*images, sheet_.cc_major * 10 + sheet_.cc_minor);
  if (!image) return refuse(image.error(), kNoKernelImage);
  auto text = ptx_text(**image);
  if (!text) return refuse(text.error(), kInvalidKernelImage);
  code.ptx = std::move(*text);
  auto module = device_->load(code.ptx, (*image)->file.empty() ? "device code" : (*image)->file);
  if (!module) return refuse(module.error(), kInvalidPtx);
  code.module = *module;
  for (const Variable& variable : code.variables) {
    if (variable.managed == nullptr) continue;
    std::size_t bytes = 0;
    auto address = device_->symbol(*code.module, variable.name, &bytes);
    if (!address) return refuse(address.error(), kInvalidSymbol);
    device_->note_host_write(*address, bytes);
    *variable.managed = *address;
    ++traffic.host_allocations;
    host_memory_[reinterpret_cast<std::uintptr_t>(*address)] = {bytes, kManagedMemory, 0, false};
  }
  return kSuccess;
}

Kernel* Runtime::find_kernel(const void* host_or_handle) {
  if (kernel_handles_.contains(host_or_handle)) return static_cast<Kernel*>(const_cast<void*>(host_or_handle));
  const auto found = kernels_.find(host_or_handle);
  return found == kernels_.end() ? nullptr : found->second.get();
}

Kernel* Runtime::prepared_kernel(const void* host_or_handle, Code& code) {
  Kernel* kernel = find_kernel(host_or_handle);
  code = kernel == nullptr ? kInvalidDeviceFunction : load(*kernel->code);
  if (code != kSuccess) return nullptr;
  if (kernel->function != nullptr) return kernel;
  auto function = device_->kernel(*kernel->code->module, kernel->name);
  if (!function) {
    log_.error(function.error());
    code = kInvalidDeviceFunction;
    return nullptr;
  }
  kernel->function = *function;
  kernel->facts = device_->facts(**function);
  kernel->tensor_kind = vgpu::tensor_kind_of(kernel_text(kernel->code->ptx, kernel->name));
  const auto facts = settings_->facts.find(kernel->name);
  kernel->registers_known = facts != settings_->facts.end();
  kernel->registers = kernel->registers_known ? facts->second.registers : std::min(kernel->facts.registers, kRegistersGuess);
  return kernel;
}

Code Runtime::find_symbol(const void* host, std::byte*& address, std::size_t& bytes) {
  for (const auto& code : codes_) {
    for (const Variable& variable : code->variables) {
      if (variable.host != host && (variable.managed == nullptr || *variable.managed != host)) continue;
      if (const Code loaded = load(*code); loaded != kSuccess) return loaded;
      auto found = device_->symbol(*code->module, variable.name, &bytes);
      if (!found) {
        log_.error(found.error());
        return kInvalidSymbol;
      }
      address = *found;
      return kSuccess;
    }
  }
  return kInvalidSymbol;
}

void Runtime::reset() {
  sticky_ = kSuccess;
  last_error() = kSuccess;
}

// 1 and 2 are cudaStreamLegacy and cudaStreamPerThread.
bool Runtime::is_stream(const void* stream) const {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2 || streams.contains(stream);
}

}  // namespace kw::cudart
