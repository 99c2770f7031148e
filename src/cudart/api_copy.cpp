// cudaMemcpy and cudaMemset in all their forms; each is done when it is called.
#include "cudart/runtime.h"

namespace kw::cudart {
namespace {

int copy_bytes(void* target, const void* source, std::size_t bytes, int kind, void* stream, const char* call) {
  return device_call([&](Runtime& runtime) -> int {
    if (!runtime.is_stream(stream)) return kInvalidResourceHandle;
    return runtime.copy(target, source, bytes, kind, call);
  });
}

struct Rows {
  std::byte* target;
  std::size_t target_pitch;
  const std::byte* source;
  std::size_t source_pitch, width, height;
};

Code copy_rows(Runtime& runtime, const Rows& rows, int kind, const char* call) {
  if (rows.width > rows.target_pitch || rows.width > rows.source_pitch) return kInvalidPitchValue;
  for (std::size_t row = 0; row < rows.height; ++row) {
    const Code code =
        runtime.copy(rows.target + row * rows.target_pitch, rows.source + row * rows.source_pitch, rows.width, kind, call);
    if (code != kSuccess) return code;
  }
  return kSuccess;
}

int copy_2d(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch, std::size_t width,
            std::size_t height, int kind, void* stream) {
  return device_call([&](Runtime& runtime) -> int {
    if (!runtime.is_stream(stream)) return kInvalidResourceHandle;
    if (width == 0 || height == 0) return kSuccess;
    return copy_rows(
        runtime,
        {static_cast<std::byte*>(target), target_pitch, static_cast<const std::byte*>(source), source_pitch, width, height}, kind,
        "cudaMemcpy2D");
  });
}

int copy_3d(const Copy3D* copy, void* stream) {
  return device_call([&](Runtime& runtime) -> int {
    if (copy == nullptr) return kInvalidValue;
    if (!runtime.is_stream(stream)) return kInvalidResourceHandle;
    if (copy->source_array != nullptr || copy->target_array != nullptr) return kNotSupported;
    const auto place = [](const PitchedPtr& memory, const Position& at, std::size_t layer) {
      const std::size_t rows = (at.z + layer) * memory.ysize + at.y;
      return static_cast<std::byte*>(memory.ptr) + rows * memory.pitch + at.x;
    };
    for (std::size_t layer = 0; layer < copy->extent.depth; ++layer) {
      const Rows rows{place(copy->target, copy->target_position, layer),
                      copy->target.pitch,
                      place(copy->source, copy->source_position, layer),
                      copy->source.pitch,
                      copy->extent.width,
                      copy->extent.height};
      if (const Code code = copy_rows(runtime, rows, copy->kind, "cudaMemcpy3D"); code != kSuccess) return code;
    }
    return kSuccess;
  });
}

int copy_symbol(const void* symbol, std::size_t offset, std::size_t bytes, void* target, const void* source, int kind,
                const char* call) {
  return device_call([&](Runtime& runtime) -> int {
    std::byte* address = nullptr;
    std::size_t size = 0;
    if (const Code code = runtime.find_symbol(symbol, address, size); code != kSuccess) return code;
    if (offset > size || bytes > size - offset) {
      vgpu::Finding finding;
      finding.kind = "out_of_bounds";
      finding.message = std::string(call) + " of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        " into a variable of " + std::to_string(size) + " bytes";
      runtime.log().finding(finding);
      return kInvalidValue;
    }
    if (target == nullptr) return runtime.copy(address + offset, source, bytes, kind, call);
    return runtime.copy(target, address + offset, bytes, kind, call);
  });
}

int fill_rows(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return device_call([&](Runtime& runtime) -> int {
    if (width > pitch && height > 1) return kInvalidPitchValue;
    for (std::size_t row = 0; row < height; ++row)
      if (const Code code = runtime.fill(static_cast<std::byte*>(target) + row * pitch, value, width, "cudaMemset2D");
          code != kSuccess)
        return code;
    return kSuccess;
  });
}

}  // namespace

KW_CUDART int cudaMemcpy(void* target, const void* source, std::size_t bytes, int kind) {
  return copy_bytes(target, source, bytes, kind, nullptr, "cudaMemcpy");
}
KW_CUDART int cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, int kind, void* stream) {
  return copy_bytes(target, source, bytes, kind, stream, "cudaMemcpyAsync");
}
KW_CUDART int cudaMemcpyPeer(void* target, int, const void* source, int, std::size_t bytes) {
  return copy_bytes(target, source, bytes, kDeviceToDevice, nullptr, "cudaMemcpyPeer");
}
KW_CUDART int cudaMemcpyPeerAsync(void* target, int, const void* source, int, std::size_t bytes, void* stream) {
  return copy_bytes(target, source, bytes, kDeviceToDevice, stream, "cudaMemcpyPeerAsync");
}
KW_CUDART int cudaMemcpy2D(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch, std::size_t width,
                           std::size_t height, int kind) {
  return copy_2d(target, target_pitch, source, source_pitch, width, height, kind, nullptr);
}
KW_CUDART int cudaMemcpy2DAsync(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                                std::size_t width, std::size_t height, int kind, void* stream) {
  return copy_2d(target, target_pitch, source, source_pitch, width, height, kind, stream);
}
KW_CUDART int cudaMemcpy3D(const Copy3D* copy) { return copy_3d(copy, nullptr); }
KW_CUDART int cudaMemcpy3DAsync(const Copy3D* copy, void* stream) { return copy_3d(copy, stream); }

KW_CUDART int cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset, int kind) {
  return copy_symbol(symbol, offset, bytes, nullptr, source, kind, "cudaMemcpyToSymbol");
}
KW_CUDART int cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes, std::size_t offset, int kind,
                                      void*) {
  return cudaMemcpyToSymbol(symbol, source, bytes, offset, kind);
}
KW_CUDART int cudaMemcpyFromSymbol(void* target, const void* symbol, std::size_t bytes, std::size_t offset, int kind) {
  if (target == nullptr) return last_error() = kInvalidValue;
  return copy_symbol(symbol, offset, bytes, target, nullptr, kind, "cudaMemcpyFromSymbol");
}
KW_CUDART int cudaMemcpyFromSymbolAsync(void* target, const void* symbol, std::size_t bytes, std::size_t offset, int kind, void*) {
  return cudaMemcpyFromSymbol(target, symbol, bytes, offset, kind);
}

KW_CUDART int cudaGetSymbolAddress(void** address, const void* symbol) {
  return device_call([&](Runtime& runtime) -> int {
    std::byte* found = nullptr;
    std::size_t bytes = 0;
    if (address == nullptr) return kInvalidValue;
    const Code code = runtime.find_symbol(symbol, found, bytes);
    *address = found;
    return code;
  });
}
KW_CUDART int cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return device_call([&](Runtime& runtime) -> int {
    std::byte* found = nullptr;
    return bytes == nullptr ? kInvalidValue : runtime.find_symbol(symbol, found, *bytes);
  });
}

KW_CUDART int cudaMemset(void* target, int value, std::size_t bytes) {
  return device_call([&](Runtime& runtime) -> int { return runtime.fill(target, value, bytes, "cudaMemset"); });
}
KW_CUDART int cudaMemsetAsync(void* target, int value, std::size_t bytes, void*) { return cudaMemset(target, value, bytes); }
KW_CUDART int cudaMemset2D(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return fill_rows(target, pitch, value, width, height);
}
KW_CUDART int cudaMemset2DAsync(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height, void*) {
  return fill_rows(target, pitch, value, width, height);
}
KW_CUDART int cudaMemset3D(PitchedPtr memory, int value, Extent extent) {
  if (memory.ysize < extent.height) return last_error() = kInvalidValue;
  for (std::size_t layer = 0; layer < extent.depth; ++layer) {
    auto* begin = static_cast<std::byte*>(memory.ptr) + layer * memory.ysize * memory.pitch;
    if (const int code = fill_rows(begin, memory.pitch, value, extent.width, extent.height); code != kSuccess) return code;
  }
  return kSuccess;
}
KW_CUDART int cudaMemset3DAsync(PitchedPtr memory, int value, Extent extent, void*) { return cudaMemset3D(memory, value, extent); }

// With --default-stream per-thread, nvcc asks for these names.
KW_CUDART int cudaMemcpy_ptds(void* target, const void* source, std::size_t bytes, int kind) {
  return cudaMemcpy(target, source, bytes, kind);
}
KW_CUDART int cudaMemcpyAsync_ptsz(void* target, const void* source, std::size_t bytes, int kind, void* stream) {
  return cudaMemcpyAsync(target, source, bytes, kind, stream);
}
KW_CUDART int cudaMemcpy2D_ptds(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                                std::size_t width, std::size_t height, int kind) {
  return copy_2d(target, target_pitch, source, source_pitch, width, height, kind, nullptr);
}
KW_CUDART int cudaMemcpyToSymbol_ptds(const void* symbol, const void* source, std::size_t bytes, std::size_t offset, int kind) {
  return cudaMemcpyToSymbol(symbol, source, bytes, offset, kind);
}
KW_CUDART int cudaMemcpyFromSymbol_ptds(void* target, const void* symbol, std::size_t bytes, std::size_t offset, int kind) {
  return cudaMemcpyFromSymbol(target, symbol, bytes, offset, kind);
}
KW_CUDART int cudaMemset_ptds(void* target, int value, std::size_t bytes) { return cudaMemset(target, value, bytes); }
KW_CUDART int cudaMemsetAsync_ptsz(void* target, int value, std::size_t bytes, void* stream) {
  return cudaMemsetAsync(target, value, bytes, stream);
}

}  // namespace kw::cudart
