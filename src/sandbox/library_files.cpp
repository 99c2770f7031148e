#include "sandbox/library_files.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>
#include <algorithm>

#include <fmt/format.h>

#include "base/files.h"
#include "base/subprocess.h"

namespace kw::sandbox {
namespace {

// The loader that runs this very process, so never one that the executable names.
std::string own_loader() {
  std::string loader;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* into) {
        for (int i = 0; i < object->dlpi_phnum; ++i)
          if (object->dlpi_phdr[i].p_type == PT_INTERP)
            *static_cast<std::string*>(into) = reinterpret_cast<const char*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        return 1;  // the first object is the executable
      },
      &loader);
  return loader;
}

// "libm.so.6 => /lib/libm.so.6 (0x7f..)", "/lib64/ld-linux-x86-64.so.2 (0x7f..)"; the vdso has no path.
std::string path_in(const std::string& line) {
  const std::size_t arrow = line.find("=> ");
  const std::size_t start = arrow == std::string::npos ? line.find_first_not_of(" \t") : arrow + 3;
  const std::size_t end = line.rfind(" (0x");
  if (start == std::string::npos || end == std::string::npos || end <= start || line[start] != '/') return "";
  return line.substr(start, end - start);
}

}  // namespace

Result<std::vector<std::string>> library_files(const std::string& executable) {
  if (::access(executable.c_str(), R_OK) != 0) return bad_input(fmt::format("cannot read the executable {}", executable));
  const std::string loader = own_loader();
  if (loader.empty()) return internal_error("this program has no dynamic loader to ask");
  Command command;
  command.argv = {loader, "--verify", executable};
  KW_TRY(const CommandOutcome verified, run_command(command));
  // 0 and 2: a program or a library that it can load. A static program, or a script, needs nothing more.
  if (verified.exit_code != 0 && verified.exit_code != 2) return std::vector<std::string>{executable};
  command.argv[1] = "--list";
  KW_TRY(const CommandOutcome listed, run_command(command));

  std::vector<std::string> files = {executable, loader};
  for (std::size_t start = 0; start < listed.out.size();) {
    const std::size_t end = std::min(listed.out.find('\n', start), listed.out.size());
    const std::string line = listed.out.substr(start, end - start);
    start = end + 1;
    if (line.find("not found") != std::string::npos)
      return bad_input(
          fmt::format("{} needs a library that is missing: {}", executable, line.substr(line.find_first_not_of(" \t"))));
    const std::string path = path_in(line);
    if (!path.empty() && std::find(files.begin(), files.end(), path) == files.end()) files.push_back(path);
  }
  if (!listed.succeeded()) return bad_input(fmt::format("cannot list the libraries of {}: {}", executable, listed.err));
  // Without it the loader finds only what lies in its built-in folders.
  if (const std::string cache = "/etc/ld.so.cache"; ::access(cache.c_str(), R_OK) == 0) files.push_back(cache);
  return files;
}

}  // namespace kw::sandbox
