// The sandbox that nvcc runs in: the system's folders, the CUDA toolkit's, and what it is shown beside them.
#pragma once

#include "dsl/kernel.h"

namespace kw {

struct NvccBox {
  sandbox::Spec box;
  std::vector<std::string> shown;  // folders and files beside the system's that may be read

  // `folder` is where it works and writes.
  static Result<NvccBox> make(const fs::path& folder, const CompileOptions& options);
  // Makes a folder or a file readable inside; its name there.
  Result<std::string> show(const fs::path& path);
};

}  // namespace kw
