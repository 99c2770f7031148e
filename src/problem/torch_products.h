// Which floating types PyTorch's products run in on this processor, found by trying each in a child process, and the limit on
// oneDNN's instructions with which more of them do. Kept by base/onednn_limit.h, from where every process with PyTorch gets it.
#pragma once

#include "base/onednn_limit.h"

namespace kw {

// Float32, bfloat16, float16.
inline constexpr std::size_t kTorchTypes = 3;

// What is kept for this processor and this PyTorch, else what trying finds: a few seconds, and some more for each limit that has
// to be tried. `anew` looks at nothing that is kept.
Result<OneDnnRecord> torch_products(bool anew = false);

// "bfloat16 dies of SIGILL here: PyTorch's oneDNN is held to AVX512_CORE_BF16, where it runs"; empty: nothing is held back.
std::string why_onednn_is_held(const OneDnnRecord& record);

}  // namespace kw
