#include "sandbox/confinement.h"

#include <sched.h>
#include <cerrno>
#include <map>
#include <mutex>

namespace kw::sandbox {
namespace {

constexpr std::uint32_t deny = SCMP_ACT_ERRNO(EPERM);
constexpr std::uint32_t pretend_absent = SCMP_ACT_ERRNO(ENOSYS);

void deny_privileges(BpfBuilder& filter) {
  filter.rules(deny, {"mount",
                      "umount2",
                      "pivot_root",
                      "chroot",
                      "move_mount",
                      "open_tree",
                      "fsopen",
                      "fsconfig",
                      "fsmount",
                      "fspick",
                      "mount_setattr",
                      "unshare",
                      "setns",
                      "swapon",
                      "swapoff",
                      "reboot",
                      "kexec_load",
                      "kexec_file_load",
                      "init_module",
                      "finit_module",
                      "delete_module",
                      "syslog",
                      "acct",
                      "quotactl",
                      "settimeofday",
                      "clock_settime",
                      "clock_adjtime",
                      "adjtimex",
                      "sethostname",
                      "setdomainname",
                      "open_by_handle_at",
                      "name_to_handle_at",
                      "ioperm",
                      "iopl",
                      "vhangup",
                      "fanotify_init"});
  constexpr unsigned new_namespaces[] = {CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                         CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
  for (const unsigned flag : new_namespaces) filter.rule(deny, "clone", {bits(0, flag, flag)});
  filter.rule(pretend_absent, "clone3");  // its flags lie in memory; without it libc uses clone
}

void deny_reach(BpfBuilder& filter) {
  filter.rules(deny, {"socket", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd", "bpf",
                      "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key"});
  filter.rules(pretend_absent, {"io_uring_setup", "io_uring_enter", "io_uring_register"});
}

void deny_shared_host(BpfBuilder& filter) {
  // Everything stays in one process group, so that one kill ends all of it.
  filter.rules(deny, {"setsid", "setpgid"});
  filter.rules(
      deny, {"setpriority", "ioprio_set", "sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages", "move_pages"});
  filter.rule(deny, "prlimit64", {{0, SCMP_CMP_NE, 0, 0}});
  // Landlock doesn't look at these.
  filter.rules(deny, {"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr",
                      "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes", "futimesat", "utimensat"});
  filter.rules(deny, {"shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv",
                      "msgctl", "mq_open", "mq_unlink"});
}

Result<BpfProgram> build(const Confinement& confinement) {
  BpfBuilder filter(SCMP_ACT_ALLOW);
  deny_privileges(filter);
  deny_reach(filter);
  if (confinement.shared_host) deny_shared_host(filter);
  if (confinement.no_signals)
    filter.rules(deny, {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"});
  if (confinement.no_processes) {
    filter.rules(deny, {"fork", "vfork"});
    filter.rule(deny, "clone", {bits(0, CLONE_THREAD, 0)});
  }
  return filter.build();
}

}  // namespace

Result<const BpfProgram*> confinement_filter(const Confinement& confinement) {
  static std::mutex guard;
  static std::map<Confinement, BpfProgram> built;
  const std::lock_guard lock(guard);
  auto found = built.find(confinement);
  if (found == built.end()) {
    KW_TRY(BpfProgram program, build(confinement));
    found = built.emplace(confinement, std::move(program)).first;
  }
  return &found->second;
}

}  // namespace kw::sandbox
