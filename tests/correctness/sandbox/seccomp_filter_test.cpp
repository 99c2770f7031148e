#include "sandbox/seccomp_filter.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "base/json.h"
#include "support/sandbox_guest.h"

// Sanitizers' runtimes make calls of their own that the filters forbid.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KW_NOT_WITH_SANITIZERS() GTEST_SKIP() << "a sanitizer's runtime can't live under the filters"
#else
#define KW_NOT_WITH_SANITIZERS() (void)0
#endif

namespace kw::sandbox {
namespace {

using test::Line;

// A hostile shared object: each function tries one thing; its constructor calls the one that KW_TEST_CONSTRUCTOR names.
const std::string& hostile_object() {
  static const std::string object = test::compile(R"c(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static char page[8192] __attribute__((aligned(4096)));
static void* idle(void* p) { return p; }
int try_fork(void) { return fork(); }
int try_exec(void) { return execl("/bin/sh", "sh", (char*)0); }
int try_thread(void) { pthread_t t; return pthread_create(&t, 0, idle, 0) || pthread_join(t, 0); }
int try_socket(void) { return socket(AF_INET, SOCK_STREAM, 0); }
int try_open(void) { return open("/etc/passwd", O_RDONLY) < 0; }
int try_create(void) { return open("made-by-a-kernel", O_WRONLY | O_CREAT, 0600); }
int try_unlink(void) { return syscall(SYS_unlinkat, AT_FDCWD, "nothing", 0); }
int try_mprotect(void) { return mprotect(page, 4096, PROT_READ | PROT_WRITE); }
int try_mprotect_code(void) { return mprotect(page, 4096, PROT_READ | PROT_EXEC); }
int try_mmap_code(void) { return mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED; }
int try_mmap_there(void) { return mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED; }
int try_mmap_hint(void) { return mmap((void*)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED; }
int try_mmap_file(void) { return mmap(0, 4096, PROT_READ, MAP_SHARED, 7, 0) == MAP_FAILED; }
int good_shared_place(void) { return mmap((void*)0x20000000, 4096, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, 7, 0) != (void*)0x20000000; }
int try_shared_place_writable(void) { return mmap((void*)0x20000000, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, 7, 0) != 0; }
int try_shared_place_offset(void) { return mmap((void*)0x20000000, 4096, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, 7, 4096) != 0; }
int try_kill_parent(void) { return kill(getppid(), SIGTERM); }
int try_tgkill_parent(void) { return syscall(SYS_tgkill, getppid(), getppid(), SIGTERM); }
int try_ignore_sigsys(void) { return signal(SIGSYS, SIG_IGN) == SIG_ERR; }
int try_handle_segv(void) { return signal(SIGSEGV, SIG_IGN) == SIG_ERR; }
int try_timer(void) { struct itimerval t = {{0, 0}, {100, 0}}; return setitimer(ITIMER_REAL, &t, 0); }
int try_affinity(void) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(0, &s); return sched_setaffinity(0, sizeof s, &s); }
int try_prctl(void) { return prctl(PR_SET_NAME, "x", 0, 0, 0); }
int try_memfd(void) { return memfd_create("x", 0); }
int try_write_elsewhere(void) { return write(9, "x", 1); }
int try_read_stdin(void) { char c; return read(0, &c, 1); }
int try_sleep(void) { return usleep(1000); }

int good_sum(void) {  // what honest kernels do: heap, OpenMP, output
  int n = 1 << 20, total = 0;
  int* values = malloc(n * sizeof *values);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) values[i] = i % 7;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < n; ++i) total += values[i];
  values = realloc(values, 64 << 20);
  values[(16 << 20) - 1] = 1;
  free(values);
  printf("sum %d\n", total);
  fflush(stdout);
  return total;
}
int good_abort(void) { abort(); }
int good_exit(void) { _exit(0); }
int good_thread(void) { return try_thread(); }

__attribute__((constructor)) static void constructor(void) {
  const char* name = getenv("KW_TEST_CONSTRUCTOR");
  if (name) ((int (*)(void))dlsym(RTLD_DEFAULT, name))();
}
)c",
                                                  {"-shared", "-fPIC", "-fopenmp", "-pthread"});
  return object;
}

// A region of its own makes libgomp's threads, which the hostile object then finds ready.
const std::string& pool_object() {
  static const std::string object = test::compile(R"c(
int make_pool(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  return threads;
})c",
                                                  {"-shared", "-fPIC", "-fopenmp"});
  return object;
}

struct Story {
  std::string said;  // on the control descriptor
  int status = 0;
  [[nodiscard]] std::string violation() const {
    const auto json = parse_json(said, "the runner");
    if (!json.ok() || json->value("event", "") != "violation") return "none (" + said + ")";
    return syscall_name(json->value("syscall", -1));
  }
};

[[noreturn]] void be_a_runner(int control, const std::string& object, const std::string& function, bool in_constructor,
                              const FilterOptions& options) {
  ::dup2(control, 3);
  const int file = ::memfd_create("kw-test", 0);
  if (::ftruncate(file, 8192) != 0 || ::dup2(file, 7) != 7) ::_exit(1);
  const auto stop = [](const char* why) {
    ::dprintf(3, "%s", why);
    ::_exit(1);
  };
  void* pool = ::dlopen(pool_object().c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!pool) stop("no pool");
  reinterpret_cast<int (*)()>(::dlsym(pool, "make_pool"))();
  if (in_constructor) ::setenv("KW_TEST_CONSTRUCTOR", function.c_str(), 1);
  auto filters = RunnerFilters::prepare(options);
  if (!filters || !install_violation_reporter(3) || !filters->install_load()) stop("no filters");
  void* loaded = ::dlopen(object.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!loaded) stop(::dlerror());
  void* kernel = ::dlsym(loaded, function.c_str());
  if (!filters->install_run()) stop("no second filter");
  const int result = in_constructor ? 0 : reinterpret_cast<int (*)()>(kernel)();
  ::dprintf(3, "returned %d", result);
  ::_exit(0);
}

Story runner(const std::string& function, bool in_constructor = false, const FilterOptions& options = {}) {
  const std::string object = hostile_object();
  pool_object();
  Line line;
  const pid_t child = ::fork();
  if (child == 0) be_a_runner(line.theirs, object, function, in_constructor, options);
  line.close_theirs();
  Story story;
  for (std::string more; !(more = line.read()).empty();) story.said += more;
  ::waitpid(child, &story.status, 0);
  return story;
}

struct Attempt {
  const char* function;
  const char* syscall;
  bool also_while_loading;
};

class ForbiddenCallTest : public ::testing::TestWithParam<Attempt> {};

TEST_P(ForbiddenCallTest, IsReportedAndEndsTheRunner) {
  KW_NOT_WITH_SANITIZERS();
  const Story story = runner(GetParam().function);
  EXPECT_EQ(story.violation(), GetParam().syscall);
  EXPECT_TRUE(WIFEXITED(story.status) && WEXITSTATUS(story.status) == violation_exit_code);
}

TEST_P(ForbiddenCallTest, InAConstructor) {
  KW_NOT_WITH_SANITIZERS();
  const Story story = runner(GetParam().function, true);
  if (GetParam().also_while_loading) {
    EXPECT_EQ(story.violation(), GetParam().syscall);
  } else {
    EXPECT_EQ(story.said, "returned 0");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Calls, ForbiddenCallTest,
    ::testing::Values(Attempt{"try_fork", "clone", true}, Attempt{"try_exec", "execve", true},
                      Attempt{"try_socket", "socket", true}, Attempt{"try_open", "openat", false},
                      Attempt{"try_create", "openat", true}, Attempt{"try_unlink", "unlinkat", true},
                      Attempt{"try_mprotect", "mprotect", false}, Attempt{"try_mprotect_code", "mprotect", true},
                      Attempt{"try_mmap_code", "mmap", true}, Attempt{"try_mmap_there", "mmap", false},
                      Attempt{"try_mmap_hint", "mmap", false}, Attempt{"try_mmap_file", "mmap", false},
                      Attempt{"try_kill_parent", "kill", true}, Attempt{"try_tgkill_parent", "tgkill", true},
                      Attempt{"try_ignore_sigsys", "rt_sigaction", true}, Attempt{"try_handle_segv", "rt_sigaction", true},
                      Attempt{"try_timer", "setitimer", true}, Attempt{"try_affinity", "sched_setaffinity", true},
                      Attempt{"try_prctl", "prctl", true}, Attempt{"try_memfd", "memfd_create", true},
                      Attempt{"try_write_elsewhere", "write", true}, Attempt{"try_read_stdin", "read", false},
                      Attempt{"try_sleep", "clock_nanosleep", true}),
    [](const auto& attempt) { return std::string(attempt.param.function); });

TEST(SeccompFilterTest, AnOpenMpKernelRuns) {
  KW_NOT_WITH_SANITIZERS();
  int expected = 0;
  for (int i = 0; i < 1 << 20; ++i) expected += i % 7;
  const Story story = runner("good_sum");
  EXPECT_EQ(story.said, "returned " + std::to_string(expected));
  EXPECT_TRUE(WIFEXITED(story.status) && WEXITSTATUS(story.status) == 0);
}

TEST(SeccompFilterTest, AnOpenMpConstructorRuns) {
  KW_NOT_WITH_SANITIZERS();
  EXPECT_EQ(runner("good_sum", true).said, "returned 0");
}

TEST(SeccompFilterTest, AbortAndExitAreSeenAsSuch) {
  KW_NOT_WITH_SANITIZERS();
  const Story aborted = runner("good_abort");
  EXPECT_TRUE(WIFSIGNALED(aborted.status) && WTERMSIG(aborted.status) == SIGABRT) << aborted.said;
  const Story left = runner("good_exit");
  EXPECT_EQ(left.said, "");
  EXPECT_TRUE(WIFEXITED(left.status) && WEXITSTATUS(left.status) == 0);
}

TEST(SeccompFilterTest, ThreadsOnlyWhenAllowed) {
  KW_NOT_WITH_SANITIZERS();
  // Where a stack is left over from an earlier thread, the first forbidden call comes while signals are blocked: then the
  // kernel ends the process without a report.
  const Story story = runner("good_thread");
  const bool ended = WIFSIGNALED(story.status) && WTERMSIG(story.status) == SIGSYS;
  const std::string first_call = story.violation();
  EXPECT_TRUE(ended || first_call == "mprotect" || first_call == "clone3" || first_call == "clone" || first_call == "rt_sigaction")
      << first_call;
  EXPECT_EQ(runner("good_thread", false, {3, true}).said, "returned 0");
  EXPECT_EQ(runner("try_fork", false, {3, true}).violation(), "clone");
}

// A driver in the process may open what the sandbox shows and drive it; the rest fails, and the process lives on.
TEST(SeccompFilterTest, ADriverOpensItsDevicesAndNoMore) {
  KW_NOT_WITH_SANITIZERS();
  FilterOptions options;
  options.device = true;
  for (const char* allowed : {"try_open", "try_thread", "try_mmap_there", "try_mprotect"})
    EXPECT_EQ(runner(allowed, false, options).said, "returned 0") << allowed;
  for (const char* denied : {"try_fork", "try_exec", "try_socket", "try_unlink", "try_mprotect_code", "try_kill_parent"})
    EXPECT_EQ(runner(denied, false, options).said, "returned -1") << denied;
  EXPECT_EQ(runner("try_mmap_code", false, options).said, "returned 1");
  EXPECT_EQ(runner("try_open", true, options).said, "returned 0") << "also while it is loaded";
}

TEST(SeccompFilterTest, FilesAreMappedInSharedPlacesOnly) {
  KW_NOT_WITH_SANITIZERS();
  FilterOptions options;
  options.shared_places.push_back({reinterpret_cast<void*>(0x20000000), 4096, 0});
  EXPECT_EQ(runner("good_shared_place", false, options).said, "returned 0");
  EXPECT_EQ(runner("good_shared_place").violation(), "mmap");
  for (const char* otherwise : {"try_shared_place_writable", "try_shared_place_offset", "try_mmap_file"})
    EXPECT_EQ(runner(otherwise, false, options).violation(), "mmap") << otherwise;
}

TEST(SeccompFilterTest, NamesSyscalls) {
  EXPECT_EQ(syscall_name(SYS_socket), "socket");
  EXPECT_EQ(syscall_name(999999), "syscall 999999");
}

}  // namespace
}  // namespace kw::sandbox
