// Names and sentences of errors, and the calls that ask for them.
#include "cudart/runtime.h"

namespace kw::cudart {
namespace {

struct ErrorWords {
  int code;
  const char* name;
  const char* sentence;
};

constexpr ErrorWords kErrorWords[] = {
    {kSuccess, "cudaSuccess", "no error"},
    {kInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {kMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {kInitializationError, "cudaErrorInitializationError", "initialization error"},
    {kInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {kInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {kInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {kInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {kInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {kMissingConfiguration, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {kInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {kInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {kNoKernelImage, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {kUnsupportedLimit, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {kInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {kInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {kSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {kNotReady, "cudaErrorNotReady", "device not ready"},
    {kIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {kLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {kPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {kAssert, "cudaErrorAssert", "device-side assert triggered"},
    {kHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {kHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {kIllegalInstruction, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {kMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {kLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {kCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {kNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {kInvalidClusterSize, "cudaErrorInvalidClusterSize", "Invalid cluster size"},
    {kUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorWords* words_of(int code) {
  for (const ErrorWords& words : kErrorWords)
    if (words.code == code) return &words;
  return nullptr;
}

}  // namespace

KW_CUDART const char* cudaGetErrorName(int code) {
  const ErrorWords* words = words_of(code);
  return words == nullptr ? "unrecognized error code" : words->name;
}
KW_CUDART const char* cudaGetErrorString(int code) {
  const ErrorWords* words = words_of(code);
  return words == nullptr ? "unrecognized error code" : words->sentence;
}

// A fault of a kernel is told by every call, and never cleared by asking.
KW_CUDART int cudaGetLastError() {
  const int code = std::exchange(last_error(), kSuccess);
  const int sticky = Runtime::get().sticky();
  return sticky != kSuccess ? sticky : code;
}
KW_CUDART int cudaPeekAtLastError() {
  const int sticky = Runtime::get().sticky();
  return sticky != kSuccess ? sticky : last_error();
}

}  // namespace kw::cudart
