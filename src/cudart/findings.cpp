#include "cudart/findings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/demangle.h"
#include "vgpu/report_json.h"

namespace kw::cudart {
namespace {

constexpr int kMostTold = 50;  // the report has them all
constexpr const char* kMargin = "========= ";
constexpr std::size_t kLongestName = 120;

std::string dimensions(const vgpu::Dim3& dim) {
  return "(" + std::to_string(dim.x) + "," + std::to_string(dim.y) + "," + std::to_string(dim.z) + ")";
}

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string readable_kernel(const std::string& name) {
  std::string text = demangled(name);
  if (text.size() > kLongestName) text = text.substr(0, kLongestName) + "...";  // templates of CUTLASS fill pages
  return text;
}

std::string finding_text(const vgpu::Finding& finding) {
  std::string text = kMargin + finding.kind + ": " + finding.message + "\n";
  const std::string more = std::string(kMargin) + "    ";
  if (!finding.kernel.empty()) {
    text += more + "in " + readable_kernel(finding.kernel);
    if (finding.line > 0) text += ", " + finding.file + ":" + std::to_string(finding.line);
    if (finding.ptx_line > 0) text += " (line " + std::to_string(finding.ptx_line) + " of the PTX)";
    text += "\n";
    if (finding.kind != "launch_limit")
      text += more + "by thread " + dimensions(finding.thread) + " of block " + dimensions(finding.block) + "\n";
  }
  if (!finding.allocation.empty()) text += more + "memory: " + finding.allocation + "\n";
  if (finding.count > 1) text += more + std::to_string(finding.count) + " times in this launch\n";
  return text;
}

Status FindingsLog::open(const Settings& settings) {
  quiet_ = settings.quiet;
  if (settings.report_file.empty()) return {};
  file_ = std::fopen(settings.report_file.c_str(), "ae");
  if (file_ == nullptr)
    return bad_input("KERNELWRIGHT_VGPU_REPORT: " + settings.report_file + " cannot be written: " + std::strerror(errno),
                     "name a file in a folder that exists and can be written");
  return {};
}

void FindingsLog::launch(const vgpu::LaunchRecord& record) {
  const std::lock_guard lock(mutex_);
  for (const vgpu::Finding& each : record.report.findings) tell(each);
  if (file_ != nullptr || collect_) {
    Json json = record;
    json["event"] = "launch";
    write_line(one_line(json));
  }
}

void FindingsLog::finding(const vgpu::Finding& finding) {
  const std::lock_guard lock(mutex_);
  tell(finding);
  const Json json = {{"event", "finding"}, {"finding", finding}};
  write_line(one_line(json));
}

void FindingsLog::moved(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (file_ != nullptr || collect_) write_line(one_line({{"event", "moved"}, {"bytes", bytes}}));
}

void FindingsLog::error(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (error.message == last_error_) return;
  last_error_ = error.message;
  const Json json = {{"event", "error"}, {"message", error.message}, {"hint", error.hint}};
  write_line(one_line(json));
  if (quiet_) return;
  std::fprintf(stderr, "%svirtual GPU: %s\n", kMargin, error.message.c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "%s    try: %s\n", kMargin, error.hint.c_str());
}

std::string FindingsLog::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lines_, {});
}

void FindingsLog::write_line(const std::string& line) {
  if (collect_) lines_ += line;
  if (file_ == nullptr) return;
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);  // a program may end in any way
}

void FindingsLog::tell(const vgpu::Finding& finding) {
  if (quiet_ || told_ > kMostTold) return;
  std::fflush(stdout);  // in the order in which the program sees it
  if (told_++ == kMostTold) {
    std::fprintf(stderr, "%smore findings follow; KERNELWRIGHT_VGPU_REPORT=FILE has them all\n", kMargin);
    return;
  }
  std::fputs(finding_text(finding).c_str(), stderr);
}

}  // namespace kw::cudart
