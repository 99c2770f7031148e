// Landlock, for machines without user namespaces: the program runs in our file system and may open only the paths of
// its Spec. What Landlock leaves open is denied by seccomp (confinement.h). Also the mode without any sandbox.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "sandbox/confinement.h"
#include "sandbox/guests.h"

namespace kw::sandbox {
namespace {

// The kernel's interface, spelled out: libc's headers may be older than the running kernel.
struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // from ABI 4
  std::uint64_t scoped;              // from ABI 6
};
struct __attribute__((packed)) PathRule {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};
constexpr std::uint64_t execute = 1 << 0, write_file = 1 << 1, read_file_bit = 1 << 2, read_dir = 1 << 3;
constexpr std::uint64_t refer = 1 << 13, truncate = 1 << 14, ioctl_dev = 1 << 15;
constexpr std::uint64_t all_of_abi_1 = (1 << 13) - 1;
constexpr std::uint64_t for_files = execute | write_file | read_file_bit | truncate | ioctl_dev;
constexpr std::uint64_t scope_abstract_sockets = 1 << 0, scope_signals = 1 << 1;
constexpr int first_abi_with_signals = 6;

int landlock_abi() {
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */));
}

std::uint64_t accesses_of(int abi) {
  return all_of_abi_1 | (abi >= 2 ? refer : 0) | (abi >= 3 ? truncate : 0) | (abi >= 5 ? ioctl_dev : 0);
}

Status allow_path(int ruleset, const std::string& path, std::uint64_t access) {
  const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat about {};
  if (!place || ::fstat(place.get(), &about) != 0)
    return bad_input(fmt::format("cannot show {} in the sandbox: {}", path, std::strerror(errno)));
  const PathRule rule{S_ISDIR(about.st_mode) ? access : access & for_files, place.get()};
  if (::syscall(SYS_landlock_add_rule, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0) != 0)
    return internal_error(fmt::format("landlock_add_rule for {}: {}", path, std::strerror(errno)));
  return {};
}

Result<Fd> make_ruleset(const Spec& spec, const fs::path& temp, int abi) {
  const std::uint64_t all = accesses_of(abi);
  RulesetAttributes attributes{all, 0, 0};
  std::size_t size = sizeof attributes.handled_access_fs;
  if (abi >= 4) {
    attributes.handled_access_net = 3;  // bind and connect, without a rule that allows any
    size = 16;
  }
  if (abi >= first_abi_with_signals) {
    attributes.scoped = scope_abstract_sockets | scope_signals;
    size = 24;
  }
  Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (!ruleset) return internal_error(fmt::format("landlock_create_ruleset: {}", std::strerror(errno)));
  for (const Bind& path : spec.read_only) KW_CHECK(allow_path(ruleset.get(), path.source, execute | read_file_bit | read_dir));
  for (const Bind& path : spec.read_write) KW_CHECK(allow_path(ruleset.get(), path.source, all));
  KW_CHECK(allow_path(ruleset.get(), temp.string(), all));
  if (spec.dev_null) {
    KW_CHECK(allow_path(ruleset.get(), "/dev/null", read_file_bit | write_file | (all & truncate)));
    KW_CHECK(allow_path(ruleset.get(), "/dev/urandom", read_file_bit));
  }
  for (const std::string& device : spec.devices)
    KW_CHECK(allow_path(ruleset.get(), device, read_file_bit | write_file | (all & ioctl_dev)));
  return ruleset;
}

bool lies_inside(const std::string& path, const std::string& folder) {
  const fs::path relative = fs::path(path).lexically_normal().lexically_relative(fs::path(folder).lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

Status check_binds(const Spec& spec) {
  for (const auto* binds : {&spec.read_only, &spec.read_write})
    for (const Bind& path : *binds)
      if (!path.target.empty() && path.target != path.source)
        return internal_error(fmt::format("Landlock cannot show {} as {}", path.source, path.target),
                              "install bubblewrap, which can");
  for (const Bind& inner : spec.read_only)
    for (const Bind& outer : spec.read_write)
      if (lies_inside(inner.source, outer.source))
        return internal_error(fmt::format("Landlock cannot keep {} read-only inside the writable {}", inner.source, outer.source),
                              "install bubblewrap, which can");
  return {};
}

class DirectRunning final : public Running {
 public:
  DirectRunning(Supervisor supervisor, TempFolder temp) : Running(std::move(supervisor)), temp_(std::move(temp)) {}
  [[nodiscard]] pid_t program_pid() const override { return supervisor_.guest(); }
  Result<Finished> end() override {
    KW_TRY(const Ending ending, supervisor_.end());
    return Finished{ending.status, ending.by_us, std::max(ending.guest_peak_bytes, ending.orphan_peak_bytes)};
  }

 private:
  TempFolder temp_;
};

Result<std::unique_ptr<Running>> start_directly(const Spec& spec, const Streams& streams, Clock::time_point until, int abi) {
  KW_CHECK(check_binds(spec));
  KW_TRY(TempFolder temp, TempFolder::make("kw-sandbox"));
  Fd ruleset;
  if (abi > 0) {
    KW_TRY(ruleset, make_ruleset(spec, temp.path(), abi));
  }
  KW_TRY(const BpfProgram* filter, confinement_filter({.no_processes = spec.limits.processes == 1,
                                                       .shared_host = true,
                                                       .no_signals = abi > 0 && abi < first_abi_with_signals}));
  ChildSetup setup(spec, streams);
  const int ruleset_fd = ruleset ? setup.placement.add_above(ruleset.get(), true) : -1;
  auto environment = spec.environment;
  environment["TMPDIR"] = temp.path().string();
  environment["PWD"] = spec.folder;
  Guest guest{std::move(setup), Words(spec.argv), environment_words(environment), spec.folder, ruleset_fd, filter, abi <= 0};
  KW_TRY(Supervisor supervisor, start_supervisor(guest, until));
  return std::unique_ptr<Running>(std::make_unique<DirectRunning>(std::move(supervisor), std::move(temp)));
}

}  // namespace

Result<std::unique_ptr<Running>> start_in_landlock(const Spec& spec, const Streams& streams, Clock::time_point until) {
  const int abi = landlock_abi();
  if (abi <= 0)
    return bad_input(fmt::format("this kernel has no Landlock: {}", std::strerror(errno)),
                     "it needs Linux 5.13 or newer with 'landlock' in the lsm= boot parameter");
  return start_directly(spec, streams, until, abi);
}

Result<std::unique_ptr<Running>> start_unconfined(const Spec& spec, const Streams& streams, Clock::time_point until) {
  return start_directly(spec, streams, until, 0);
}

}  // namespace kw::sandbox
