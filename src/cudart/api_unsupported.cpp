// What the virtual GPU has not: graphs, stream capture, arrays and textures, memory shared between processes. Each answers
// cudaErrorNotSupported and says so once, instead of leaving a program unlinked.
#include "cudart/runtime.h"

namespace kw::cudart {
namespace {

int not_supported(const char* call) {
  return query_call([&](Runtime& runtime) -> int {
    runtime.log().error(bad_input(std::string(call) + " is not supported by the virtual GPU",
                                  "docs/virtual-gpu.md says what it has; run this part on a real GPU"));
    return kNotSupported;
  });
}

}  // namespace

// The arguments do not matter: a C function may be called with more than it looks at.
#define KW_NOT_SUPPORTED(name) \
  KW_CUDART int name() { return not_supported(#name); }

KW_NOT_SUPPORTED(cudaStreamBeginCapture)
KW_NOT_SUPPORTED(cudaStreamBeginCaptureToGraph)
KW_NOT_SUPPORTED(cudaStreamEndCapture)
KW_NOT_SUPPORTED(cudaStreamGetCaptureInfo)
KW_NOT_SUPPORTED(cudaStreamUpdateCaptureDependencies)
KW_NOT_SUPPORTED(cudaThreadExchangeStreamCaptureMode)
KW_NOT_SUPPORTED(cudaGraphCreate)
KW_NOT_SUPPORTED(cudaGraphDestroy)
KW_NOT_SUPPORTED(cudaGraphAddKernelNode)
KW_NOT_SUPPORTED(cudaGraphAddMemcpyNode)
KW_NOT_SUPPORTED(cudaGraphAddMemcpyNode1D)
KW_NOT_SUPPORTED(cudaGraphAddMemsetNode)
KW_NOT_SUPPORTED(cudaGraphAddHostNode)
KW_NOT_SUPPORTED(cudaGraphAddDependencies)
KW_NOT_SUPPORTED(cudaGraphGetNodes)
KW_NOT_SUPPORTED(cudaGraphInstantiate)
KW_NOT_SUPPORTED(cudaGraphInstantiateWithFlags)
KW_NOT_SUPPORTED(cudaGraphExecUpdate)
KW_NOT_SUPPORTED(cudaGraphExecDestroy)
KW_NOT_SUPPORTED(cudaGraphLaunch)
KW_NOT_SUPPORTED(cudaGraphUpload)
KW_NOT_SUPPORTED(cudaMallocArray)
KW_NOT_SUPPORTED(cudaMalloc3DArray)
KW_NOT_SUPPORTED(cudaFreeArray)
KW_NOT_SUPPORTED(cudaMemcpyToArray)
KW_NOT_SUPPORTED(cudaMemcpy2DToArray)
KW_NOT_SUPPORTED(cudaMemcpy2DFromArray)
KW_NOT_SUPPORTED(cudaCreateTextureObject)
KW_NOT_SUPPORTED(cudaDestroyTextureObject)
KW_NOT_SUPPORTED(cudaCreateSurfaceObject)
KW_NOT_SUPPORTED(cudaDestroySurfaceObject)
KW_NOT_SUPPORTED(cudaIpcGetMemHandle)
KW_NOT_SUPPORTED(cudaIpcOpenMemHandle)
KW_NOT_SUPPORTED(cudaIpcCloseMemHandle)
KW_NOT_SUPPORTED(cudaLibraryLoadData)
KW_NOT_SUPPORTED(cudaLibraryLoadFromFile)
KW_NOT_SUPPORTED(cudaDeviceEnablePeerAccess)
KW_NOT_SUPPORTED(cudaDeviceDisablePeerAccess)
KW_NOT_SUPPORTED(cudaStreamGetAttribute)

#undef KW_NOT_SUPPORTED

// Hints that change no result.
KW_CUDART int cudaStreamSetAttribute(void*, int, const void*) { return kSuccess; }
KW_CUDART int cudaCtxResetPersistingL2Cache() { return kSuccess; }
KW_CUDART int cudaProfilerStart() { return kSuccess; }
KW_CUDART int cudaProfilerStop() { return kSuccess; }
// NOLINTBEGIN(bugprone-reserved-identifier): the names are the interface.
KW_CUDART void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int) {
  not_supported("texture references");
}
KW_CUDART void __cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) {
  not_supported("surface references");
}
// NOLINTEND(bugprone-reserved-identifier)

}  // namespace kw::cudart
