// Streams and events. Work is done when it is asked for, so that any stream is always idle and everything is in order; the time of
// an event is the clock of the host when it was recorded.
#include <chrono>
#include <memory>

#include "cudart/runtime.h"

namespace kw::cudart {
namespace {

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};
constexpr unsigned kEventDisableTiming = 2;

template <typename Body>
int with_stream(void* stream, Body&& body) {
  return device_call([&](Runtime& runtime) -> int { return runtime.is_stream(stream) ? body(runtime) : kInvalidResourceHandle; });
}

template <typename Body>
int with_event(void* event, Body&& body) {
  return device_call([&](Runtime& runtime) -> int {
    return runtime.events.contains(event) ? body(*static_cast<Event*>(event)) : kInvalidResourceHandle;
  });
}

// The special streams 0, 1 and 2 have no object.
const Stream& stream_at(void* stream) {
  static const Stream standard;
  return reinterpret_cast<std::uintptr_t>(stream) <= 2 ? standard : *static_cast<Stream*>(stream);
}

}  // namespace

KW_CUDART int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return device_call([&](Runtime& runtime) -> int {
    if (stream == nullptr || flags > 1) return kInvalidValue;
    static unsigned long long streams = 2;
    auto made = std::make_unique<Stream>(Stream{flags, priority, ++streams});
    runtime.streams.insert(made.get());
    *stream = made.release();
    return kSuccess;
  });
}
KW_CUDART int cudaStreamCreateWithFlags(void** stream, unsigned flags) { return cudaStreamCreateWithPriority(stream, flags, 0); }
KW_CUDART int cudaStreamCreate(void** stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
KW_CUDART int cudaStreamDestroy(void* stream) {
  return device_call([&](Runtime& runtime) -> int {
    if (runtime.streams.erase(stream) == 0) return kInvalidResourceHandle;
    delete static_cast<Stream*>(stream);
    return kSuccess;
  });
}
KW_CUDART int cudaStreamSynchronize(void* stream) {
  return with_stream(stream, [](Runtime&) { return kSuccess; });
}
KW_CUDART int cudaStreamQuery(void* stream) { return cudaStreamSynchronize(stream); }
KW_CUDART int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return with_stream(stream, [&](Runtime& runtime) { return runtime.events.contains(event) ? kSuccess : kInvalidResourceHandle; });
}
KW_CUDART int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return with_stream(stream,
                     [&](Runtime&) { return flags == nullptr ? kInvalidValue : (*flags = stream_at(stream).flags, kSuccess); });
}
KW_CUDART int cudaStreamGetPriority(void* stream, int* priority) {
  return with_stream(
      stream, [&](Runtime&) { return priority == nullptr ? kInvalidValue : (*priority = stream_at(stream).priority, kSuccess); });
}
KW_CUDART int cudaStreamGetId(void* stream, unsigned long long* id) {
  return with_stream(stream, [&](Runtime&) { return id == nullptr ? kInvalidValue : (*id = stream_at(stream).id, kSuccess); });
}
KW_CUDART int cudaStreamGetDevice(void* stream, int* device) {
  return with_stream(stream, [&](Runtime&) { return device == nullptr ? kInvalidValue : (*device = 0, kSuccess); });
}
KW_CUDART int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return kSuccess;
}
KW_CUDART int cudaStreamIsCapturing(void* stream, int* status) {
  return with_stream(stream, [&](Runtime&) { return status == nullptr ? kInvalidValue : (*status = 0, kSuccess); });
}
KW_CUDART int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  const int code = cudaStreamSynchronize(stream);
  if (code != kSuccess) return code;
  if (function == nullptr) return last_error() = kInvalidValue;
  function(data);
  return kSuccess;
}
KW_CUDART int cudaStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data, unsigned) {
  const int code = cudaStreamSynchronize(stream);
  if (callback == nullptr) return last_error() = kInvalidValue;
  callback(stream, code, data);
  return code;
}

KW_CUDART int cudaEventCreateWithFlags(void** event, unsigned flags) {
  return device_call([&](Runtime& runtime) -> int {
    if (event == nullptr || flags > 7) return kInvalidValue;
    auto made = std::make_unique<Event>();
    made->flags = flags;
    runtime.events.insert(made.get());
    *event = made.release();
    return kSuccess;
  });
}
KW_CUDART int cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }
KW_CUDART int cudaEventDestroy(void* event) {
  return device_call([&](Runtime& runtime) -> int {
    if (runtime.events.erase(event) == 0) return kInvalidResourceHandle;
    delete static_cast<Event*>(event);
    return kSuccess;
  });
}
KW_CUDART int cudaEventRecord(void* event, void* stream) {
  return with_stream(stream, [&](Runtime&) {
    return with_event(event, [](Event& found) {
      found.recorded = true;
      found.time = std::chrono::steady_clock::now();
      return kSuccess;
    });
  });
}
KW_CUDART int cudaEventRecordWithFlags(void* event, void* stream, unsigned) { return cudaEventRecord(event, stream); }
KW_CUDART int cudaEventSynchronize(void* event) {
  return with_event(event, [](Event&) { return kSuccess; });
}
KW_CUDART int cudaEventQuery(void* event) { return cudaEventSynchronize(event); }
KW_CUDART int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return with_event(start, [&](Event& from) {
    return with_event(end, [&](Event& to) {
      if (milliseconds == nullptr) return kInvalidValue;
      if (!from.recorded || !to.recorded || ((from.flags | to.flags) & kEventDisableTiming) != 0) return kInvalidResourceHandle;
      *milliseconds = std::chrono::duration<float, std::milli>(to.time - from.time).count();
      return kSuccess;
    });
  });
}

// With --default-stream per-thread, nvcc asks for these names.
KW_CUDART int cudaStreamSynchronize_ptsz(void* stream) { return cudaStreamSynchronize(stream); }
KW_CUDART int cudaStreamQuery_ptsz(void* stream) { return cudaStreamQuery(stream); }
KW_CUDART int cudaStreamWaitEvent_ptsz(void* stream, void* event, unsigned flags) {
  return cudaStreamWaitEvent(stream, event, flags);
}
KW_CUDART int cudaEventRecord_ptsz(void* event, void* stream) { return cudaEventRecord(event, stream); }
KW_CUDART int cudaEventRecordWithFlags_ptsz(void* event, void* stream, unsigned) { return cudaEventRecord(event, stream); }
KW_CUDART int cudaLaunchHostFunc_ptsz(void* stream, void (*function)(void*), void* data) {
  return cudaLaunchHostFunc(stream, function, data);
}

}  // namespace kw::cudart
