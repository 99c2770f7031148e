#include "runner/serve.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <omp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "base/cores.h"
#include "runner/buffers.h"
#include "runner/crash_reporter.h"
#include "runner/device_host.h"
#include "runner/gpu_host.h"
#include "runner/opencl_host.h"
#include "sandbox/seccomp_filter.h"

namespace kw::runner {
namespace {

using Clock = std::chrono::steady_clock;

void tell(const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  (void)::send(kControlDescriptor, text.data(), text.size(), MSG_NOSIGNAL);
}

[[noreturn]] void give_up(const std::string& stage, const std::string& message) {
  tell({{"event", "failed"}, {"stage", stage}, {"message", message}});
  ::_exit(3);
}

std::string read_spec_text() {
  struct stat status {};
  if (::fstat(kSpecDescriptor, &status) != 0) return {};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t got = ::pread(kSpecDescriptor, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// The pool exists before the kernel does, so that making threads can be forbidden afterwards. With a core for each thread they
// get one each: left alone, the scheduler lets two share a core for many calls, and the calls then take twice as long.
void make_thread_pool(int threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  const std::vector<int> cores = usable_cores();
  const bool core_each = threads > 1 && cores.size() == static_cast<std::size_t>(threads);
#pragma omp parallel num_threads(threads)
  {
    give_thread_a_signal_stack();
    if (core_each) stay_on_core(cores[static_cast<std::size_t>(omp_get_thread_num())]);
  }
}

struct Kernel {
  void (*call)(void* state, void* const* slots) = nullptr;
  void* (*prepare)(void* const* slots) = nullptr;
  void (*release)(void* state) = nullptr;
  void* state = nullptr;
  OpenClHost* opencl = nullptr;  // it runs the launches in place of the functions above
  bool prepares = false;

  void run(const std::vector<void*>& arguments) const {
    if (opencl == nullptr) return call(state, arguments.data());
    if (const Status ran = opencl->run(arguments, false); !ran) give_up("run", ran.error().message);
  }
  void run_prepare(const std::vector<void*>& arguments) {
    if (opencl == nullptr) {
      state = prepare(arguments.data());
    } else if (const Status ran = opencl->run(arguments, true); !ran) {
      give_up("prepare", ran.error().message);
    }
  }
};

Kernel load(const Spec& spec) {
  void* object = ::dlopen(spec.object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) give_up("load", ::dlerror());
  Kernel kernel;
  kernel.call = reinterpret_cast<decltype(kernel.call)>(::dlsym(object, "kw_call"));
  if (kernel.call == nullptr) give_up("load", "the object has no kw_call");
  kernel.prepares = spec.has_prepare;
  if (spec.has_prepare) {
    kernel.prepare = reinterpret_cast<decltype(kernel.prepare)>(::dlsym(object, "kw_call_prepare"));
    kernel.release = reinterpret_cast<decltype(kernel.release)>(::dlsym(object, "kw_release"));
    if (kernel.prepare == nullptr) give_up("load", "the object has no kw_call_prepare");
  }
  struct link_map* map = nullptr;
  if (::dlinfo(object, RTLD_DI_LINKMAP, &map) == 0) set_object_base(reinterpret_cast<void*>(map->l_addr));
  return kernel;
}

Kernel load(OpenClHost& opencl, const Spec& spec, const Buffers& buffers) {
  if (const Status loaded = opencl.load(); !loaded) give_up("load", loaded.error().message);
  for (int slot = 0; slot < spec.out_slots; ++slot) buffers.poison(slot);
  Kernel kernel;
  kernel.opencl = &opencl;
  kernel.prepares = spec.has_prepare;
  return kernel;
}

double heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// A ticket goes back with the answer that it asked for, so that a message of the kernel's own making stands out.
void prepare(Kernel& kernel, const Buffers& buffers, GpuHost* gpu, const Json& order) {
  const Json ticket = order.value("ticket", Json());
  if (!kernel.prepares) return tell({{"event", "prepared"}, {"ticket", ticket}, {"seconds", 0}, {"bytes", 0}});
  if (kernel.state != nullptr && kernel.release != nullptr) kernel.release(kernel.state);
  auto slots = buffers.arguments(0);
  if (gpu != nullptr) {
    gpu->bring(slots);
    slots = gpu->arguments(slots);
    gpu->begin(false);
  }
  const double before = heap_bytes();
  const auto start = Clock::now();
  kernel.run_prepare(slots);
  const std::chrono::duration<double> took = Clock::now() - start;
  Json done{{"event", "prepared"}, {"ticket", ticket}, {"seconds", took.count()}, {"bytes", std::max(0.0, heap_bytes() - before)}};
  if (gpu != nullptr) {
    Json seen = gpu->end(slots, false);
    if (gpu->keeps_time()) {
      done["seconds"] = std::max(took.count(), seen.at("nanoseconds").get<double>() * 1e-9);
      done["bytes"] = done.at("bytes").get<double>() + seen.at("held_bytes").get<double>();
    }
    done["gpu"] = std::move(seen);
  }
  tell(done);
}

void call(const Kernel& kernel, const Buffers& buffers, GpuHost* gpu, const Json& order) {
  const auto outs = order.at("outs").get<std::vector<int>>();
  std::vector<std::vector<void*>> arguments;
  for (const int out : outs) arguments.push_back(buffers.arguments(out));
  if (order.value("poison", false))
    for (const int out : outs) buffers.poison(out);
  std::vector<std::int64_t> nanoseconds(outs.size());
  fenv_t before, after;
  std::fegetenv(&before);
  Json seen = Json::array();       // by the GPU
  std::vector<std::int64_t> late;  // of each call on a real GPU: how long it still worked when the stream was done
  for (std::size_t i = 0; i < outs.size(); ++i) {
    std::vector<void*> given = arguments[i];
    if (gpu != nullptr) {
      gpu->bring(given);
      given = gpu->arguments(given);
      gpu->begin(true);
    }
    const auto start = Clock::now();
    kernel.run(given);
    nanoseconds[i] = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    if (gpu == nullptr) continue;
    Json now = gpu->end(arguments[i], true);
    if (gpu->keeps_time()) {
      nanoseconds[i] = now.at("nanoseconds").get<std::int64_t>();
      late.push_back(now.at("late_nanoseconds").get<std::int64_t>());
      seen.clear();  // the last tells of the first error, too; many calls would not fit into a message
    }
    seen.push_back(std::move(now));
  }
  std::fegetenv(&after);
#if defined(__x86_64__)
  const bool changed = (before.__mxcsr & 0xffc0u) != (after.__mxcsr & 0xffc0u);  // modes; not the sticky flags
#else
  const bool changed = false;
#endif
  std::fesetenv(&before);
  Json done{
      {"event", "done"}, {"ticket", order.value("ticket", Json())}, {"nanoseconds", nanoseconds}, {"float_state_changed", changed}};
  if (gpu != nullptr) done["gpu"] = std::move(seen);
  if (!late.empty()) done["late_nanoseconds"] = late;
  tell(done);
}

// Calls in a row on a real GPU, on what the last call left there, between one pair of events: nothing passes between them that a
// clock outside would have to leave out.
void burst(const Kernel& kernel, const Buffers& buffers, GpuHost& gpu, const Json& order) {
  const auto on_host = buffers.arguments(0);
  const auto given = gpu.arguments(on_host);
  gpu.begin(false);
  for (int i = order.at("calls").get<int>(); i > 0; --i) kernel.run(given);
  Json seen = gpu.end(on_host, false);
  tell({{"event", "done"},
        {"ticket", order.value("ticket", Json())},
        {"nanoseconds", {seen.at("nanoseconds")}},
        {"float_state_changed", false},
        {"gpu", {seen}}});
}

// The next order. Inputs that come with it are shown, and their descriptor is closed: nothing but their place leads to them.
Json receive(const Buffers& buffers) {
  static std::string text(kMaxMessage, '\0');
  alignas(cmsghdr) char extra[CMSG_SPACE(sizeof(int))];
  iovec part{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  ssize_t got = 0;
  do {
    header.msg_control = extra;
    header.msg_controllen = sizeof extra;
    got = ::recvmsg(kControlDescriptor, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) ::_exit(0);  // the evaluator is gone
  const cmsghdr* item = CMSG_FIRSTHDR(&header);
  if (item != nullptr && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS) {
    int inputs = -1;
    std::memcpy(&inputs, CMSG_DATA(item), sizeof inputs);
    const Status brought = buffers.bring(inputs);
    ::close(inputs);
    if (!brought) give_up("run", brought.error().message);
  }
  auto message = parse_json(std::string_view(text).substr(0, static_cast<std::size_t>(got)), "the evaluator's message");
  if (!message) give_up("control", message.error().message);
  return *message;
}

// Until the kernel may be loaded, orders are rehearsed: what taking one and answering takes is known before anything hostile is in
// the process.
void rehearse(const Buffers& buffers) {
  for (;;) {
    const Json message = receive(buffers);
    const std::string op = message.value("op", "");
    if (op == "load") return;
    if (op != "rehearse") ::_exit(0);
    tell({{"event", "rehearsed"}, {"ticket", message.value("ticket", Json())}});
  }
}

Json addresses(const Spec& spec, const Buffers& buffers, const OpenClHost* opencl) {
  Json all = Json::array();
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    const Role role = spec.arguments[i].role;
    Json row = Json::array();
    const int copies = role == Role::output ? spec.out_slots : 1;
    for (int copy = 0; copy < copies; ++copy) row.push_back(reinterpret_cast<std::uintptr_t>(buffers.region(i, copy)));
    if (opencl != nullptr) row.push_back(reinterpret_cast<std::uintptr_t>(opencl->blanks()[i]));
    all.push_back(row);
  }
  return all;
}

}  // namespace

int list_gpus(const char* library) {
  const auto devices = list_devices(library);
  const std::string text = devices ? devices->dump(-1, ' ', false, Json::error_handler_t::replace) : devices.error().message;
  (void)!::write(devices ? 1 : 2, text.data(), text.size());
  return devices ? 0 : 1;
}

int serve() {
  auto spec_json = parse_json(read_spec_text(), "the runner's spec");
  if (!spec_json) give_up("start", spec_json.error().message);
  auto spec = read_fields("the runner's spec", [&] { return spec_json->get<Spec>(); });
  if (!spec) give_up("start", spec.error().message);

  make_thread_pool(spec->opencl.empty() ? spec->threads : 1);  // OpenCL brings its own
  auto buffers = Buffers::map(*spec, kDataDescriptor);
  if (!buffers) give_up("start", buffers.error().message);
  std::unique_ptr<GpuHost> gpu;
  if (!spec->gpu.library.empty()) {
    auto opened = GpuHost::open(*spec);
    if (!opened) give_up("start", opened.error().message);
    gpu = std::move(*opened);
  }
  std::unique_ptr<OpenClHost> opencl;
  if (!spec->opencl.empty()) {
    auto opened = OpenClHost::open(*spec, *buffers);
    if (!opened) give_up("start", opened.error().message);
    opencl = std::move(*opened);
  }
  ::close(kSpecDescriptor);
  ::close(kDataDescriptor);
  tell({{"event", "mapped"},
        {"addresses", addresses(*spec, *buffers, opencl.get())},
        {"device", gpu ? Json(gpu->addresses()) : Json::array()}});
  rehearse(*buffers);
  std::optional<sandbox::RunnerFilters> filters;
  const auto must = [](Status status) {
    if (!status) give_up("start", status.error().message);
  };
  if (spec->guarded) {
    install_crash_reporter(kControlDescriptor);
    must(sandbox::install_violation_reporter(kControlDescriptor));
    sandbox::FilterOptions allowed{kControlDescriptor, false, gpu != nullptr, spec->gpu.real, {}};
    for (const Place& place : buffers->input_places()) allowed.shared_places.push_back({place.address, place.bytes, place.offset});
    auto prepared = sandbox::RunnerFilters::prepare(allowed);
    if (!prepared) give_up("start", prepared.error().message);
    filters = std::move(*prepared);
    must(filters->install_load());
  }
  tell({{"event", "loading"}});
  Kernel kernel = opencl ? load(*opencl, *spec, *buffers) : load(*spec);
  if (filters) must(filters->install_run());
  tell({{"event", "loaded"}});

  for (;;) {
    const Json message = receive(*buffers);
    const std::string op = message.value("op", "");
    try {
      if (op == "show")
        tell({{"event", "shown"}, {"ticket", message.value("ticket", Json())}});  // receive() has brought them
      else if (op == "prepare")
        prepare(kernel, *buffers, gpu.get(), message);
      else if (op == "call")
        call(kernel, *buffers, gpu.get(), message);
      else if (op == "burst" && gpu && gpu->keeps_time())
        burst(kernel, *buffers, *gpu, message);
      else
        ::_exit(0);
    } catch (const std::exception& e) {
      tell({{"event", "threw"}, {"what", e.what()}});
    } catch (...) {
      tell({{"event", "threw"}, {"what", "something that is no std::exception"}});
    }
  }
}

}  // namespace kw::runner
