// Tells people and programs what the virtual GPU found: readable text on standard error, JSON lines in a file or for the host to
// fetch.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>

#include "base/result.h"
#include "cudart/settings.h"
#include "vgpu/device.h"

namespace kw::vgpu {
struct LaunchRecord;
}

namespace kw::cudart {

// A finding as compute-sanitizer's users know it; ends with a newline.
std::string finding_text(const vgpu::Finding& finding);
// "saxpy(float*, int)" for "_Z5saxpyPfi"; the name itself where it is not mangled.
std::string readable_kernel(const std::string& name);

class FindingsLog {
 public:
  // Opens the report's file, if one is named.
  Status open(const Settings& settings);
  void collect(bool on) { collect_ = on; }  // for take()

  void launch(const vgpu::LaunchRecord& record);
  void finding(const vgpu::Finding& finding);  // of a call on the host
  void moved(std::size_t bytes);               // by a copy or fill within the device: what was read and what was written
  void error(const Error& error);              // the same one is told once in a row
  // JSON lines since the last call.
  std::string take();

 private:
  void write_line(const std::string& json);
  void tell(const vgpu::Finding& finding);
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  bool quiet_ = false, collect_ = false;
  int told_ = 0;
  std::string last_error_, lines_;
};

}  // namespace kw::cudart
