#include "sandbox/sandbox.h"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/wait.h>
#include <csignal>
#include <fstream>

#include "support/sandbox_guest.h"

namespace kw::sandbox {
namespace {

using test::Line;

// argv[1] says what it tries; it exits with 0 when it could.
const std::string& guest() {
  static const std::string program = test::compile(R"c(
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
extern char** environ;
static void* nothing(void* p) { return p; }
static void linger(void) { for (;;) pause(); }
int main(int argc, char** argv) {
  const char* what = argv[1];
  if (!strcmp(what, "exit")) return atoi(argv[2]);
  if (!strcmp(what, "raise")) { raise(atoi(argv[2])); return 0; }
  if (!strcmp(what, "say")) { puts(argv[2]); fputs(argv[3], stderr); return 0; }
  if (!strcmp(what, "environment")) { for (char** e = environ; *e; ++e) puts(*e); return 0; }
  if (!strcmp(what, "descriptors")) {
    for (int i = 0; i < 256; ++i) if (fcntl(i, F_GETFD) >= 0) printf("%d ", i);
    return 0;
  }
  if (!strcmp(what, "read")) {
    char c; int fd = open(argv[2], O_RDONLY);
    return fd >= 0 && read(fd, &c, 1) >= 0 ? 0 : 1;
  }
  if (!strcmp(what, "write")) {
    int fd = open(argv[2], O_WRONLY | O_CREAT, 0644);
    return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : 1;
  }
  if (!strcmp(what, "chmod")) return chmod(argv[2], 0777) == 0 ? 0 : 1;
  if (!strcmp(what, "temp")) {
    char path[4096]; snprintf(path, sizeof path, "%s/own", getenv("TMPDIR"));
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    puts(path);
    return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : 1;
  }
  if (!strcmp(what, "connect")) {
    struct sockaddr_in to = {AF_INET, htons(atoi(argv[2]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (struct sockaddr*)&to, sizeof to) == 0 ? 0 : 1;
  }
  if (!strcmp(what, "linger")) { write(3, "x", 1); linger(); }
  if (!strcmp(what, "escape")) {  // grandchildren that leave the session and the group, each holding descriptor 3
    for (int i = 0; i < 3; ++i)
      if (fork() == 0) {
        setsid();
        for (int s = 1; s < 32; ++s) signal(s, SIG_IGN);
        if (fork() == 0) { setpgid(0, 0); write(3, "x", 1); linger(); }
        _exit(0);
      }
    if (argc > 2) linger();
    char c;
    for (int i = 0; i < 3; ++i) read(4, &c, 1);
    return 0;
  }
  if (!strcmp(what, "hog")) {
    for (;;) { char* p = malloc(1 << 20); if (!p) abort(); memset(p, 1, 1 << 20); }
  }
  if (!strcmp(what, "flood")) {
    static char block[1 << 16]; memset(block, 'a', sizeof block);
    for (int i = 0; i < 1600; ++i) { write(1, block, sizeof block); write(2, block, sizeof block); }
    return 7;
  }
  if (!strcmp(what, "spin")) for (volatile int i = 0;; ++i);
  if (!strcmp(what, "fork")) { pid_t p = fork(); if (p == 0) _exit(0); return p > 0 ? 0 : 1; }
  if (!strcmp(what, "forks")) {  // says how many children it could have at once
    int count = 0;
    for (pid_t p; count < 200 && (p = fork()) >= 0; ++count) if (p == 0) linger();
    printf("%d", count);
    return 0;
  }
  if (!strcmp(what, "thread")) { pthread_t t; return pthread_create(&t, 0, nothing, 0); }
  if (!strcmp(what, "threads")) {
    pthread_t t; pthread_create(&t, 0, (void* (*)(void*))linger, 0); write(3, "x", 1); linger();
  }
  if (!strcmp(what, "cores")) {
    cpu_set_t set; sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; ++i) if (CPU_ISSET(i, &set)) printf("%d ", i);
    return 0;
  }
  if (!strcmp(what, "kill")) return kill(atoi(argv[2]), SIGKILL) == 0 ? 0 : 1;
  if (!strcmp(what, "big-file")) {
    static char block[1 << 16]; int fd = open(argv[2], O_WRONLY | O_CREAT, 0644);
    for (int i = 0; i < 1000; ++i) if (write(fd, block, sizeof block) < 0) return 1;
    return 0;
  }
  if (!strcmp(what, "folder")) { char path[4096]; puts(getcwd(path, sizeof path)); return 0; }
  return 99;
})c",
                                                   {"-pthread"});
  return program;
}

class SandboxTest : public ::testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    KW_NEEDS_SANDBOX(GetParam());
    folder_.emplace(std::move(TempFolder::make("kw-sandbox-test").value()));
  }
  Outcome run_guest(std::vector<std::string> arguments) { return run_spec(test::spec_for(guest(), std::move(arguments))); }
  Outcome run_spec(const Spec& spec) {
    const auto outcome = run(spec, GetParam());
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : Outcome{};
  }
  std::string file(const std::string& name) {
    const std::string path = (folder_->path() / name).string();
    std::ofstream(path) << "content";
    return path;
  }
  std::optional<TempFolder> folder_;
};

TEST_P(SandboxTest, ReportsExitCodesAndSignals) {
  EXPECT_EQ(run_guest({"exit", "0"}).exit_code, 0);
  EXPECT_TRUE(run_guest({"exit", "0"}).succeeded());
  const Outcome failed = run_guest({"exit", "42"});
  EXPECT_EQ(failed.exit_code, 42);
  EXPECT_EQ(failed.signal, 0);
  EXPECT_FALSE(failed.succeeded());
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE}) {
    const Outcome killed = run_guest({"raise", std::to_string(number)});
    EXPECT_EQ(killed.signal, number);
    EXPECT_FALSE(killed.succeeded());
    EXPECT_FALSE(killed.timed_out);
    EXPECT_FALSE(killed.memory_exceeded);
  }
  EXPECT_EQ(run_guest({"exit", "139"}).signal, SIGSEGV);
}

TEST_P(SandboxTest, CapturesBothStreams) {
  const Outcome outcome = run_guest({"say", "to the one", "to the other"});
  EXPECT_EQ(outcome.out, "to the one\n");
  EXPECT_EQ(outcome.err, "to the other");
  EXPECT_FALSE(outcome.output_truncated);
}

TEST_P(SandboxTest, InheritsNoEnvironment) {
  ::setenv("KW_SECRET_OF_THE_TEST", "1", 1);
  Spec spec = test::spec_for(guest(), {"environment"});
  spec.environment = {{"GIVEN", "a value with = and spaces"}};
  const std::string out = run_spec(spec).out;
  ::unsetenv("KW_SECRET_OF_THE_TEST");
  EXPECT_NE(out.find("GIVEN=a value with = and spaces\n"), std::string::npos) << out;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find('='));
    EXPECT_TRUE(name == "GIVEN" || name == "PWD" || name == "TMPDIR") << line;
  }
}

TEST_P(SandboxTest, PassesOnlyTheNamedDescriptors) {
  const int leak = ::open("/dev/null", O_RDONLY);  // not closed on exec: the sandbox has to do it
  EXPECT_EQ(run_guest({"descriptors"}).out, "0 1 2 ");
  const Line line;
  Spec spec = test::spec_for(guest(), {"descriptors"});
  spec.descriptors = {{line.theirs, 9}, {leak, 3}};
  EXPECT_EQ(run_spec(spec).out, "0 1 2 3 9 ");
  ::close(leak);
}

TEST_P(SandboxTest, ShowsOnlyTheBoundFiles) {
  const std::string hidden = file("hidden"), shown = file("shown");
  ASSERT_EQ(::access("/etc/passwd", R_OK), 0);
  EXPECT_EQ(run_guest({"read", "/etc/passwd"}).exit_code, 1);
  EXPECT_EQ(run_guest({"read", hidden}).exit_code, 1);
  Spec spec = test::spec_for(guest(), {"read", shown});
  spec.read_only.push_back({shown, ""});
  EXPECT_EQ(run_spec(spec).exit_code, 0);
  spec.argv[2] = hidden;
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  spec.argv[2] = "/proc/self/maps";
  EXPECT_EQ(run_spec(spec).exit_code, 1);
}

TEST_P(SandboxTest, DrivesOnlyTheNamedDevices) {
  Spec spec = test::spec_for(guest(), {"write", "/dev/zero"});
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  spec.devices = {"/dev/zero"};
  spec.own_proc = true;
  for (const char* what : {"write", "read"}) {
    spec.argv[1] = what;
    EXPECT_EQ(run_spec(spec).exit_code, 0) << what;
  }
  spec.argv[2] = "/dev/full";
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  spec.argv[2] = "/proc/self/maps";
  EXPECT_EQ(run_spec(spec).exit_code, GetParam() == Mode::bubblewrap ? 0 : 1);
}

TEST_P(SandboxTest, WritesOnlyWhereItMay) {
  const std::string shown = file("shown"), inside = (folder_->path() / "made").string();
  Spec spec = test::spec_for(guest(), {"write", shown});
  spec.read_only.push_back({folder_->path().string(), ""});
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  spec.argv[2] = inside;
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  spec.argv = {guest(), "chmod", shown};
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  EXPECT_EQ(read_file(shown).value(), "content");
  EXPECT_FALSE(fs::exists(inside));

  Spec writable = test::spec_for(guest(), {"write", inside});
  writable.read_write.push_back({folder_->path().string(), ""});
  EXPECT_EQ(run_spec(writable).exit_code, 0);
  EXPECT_EQ(read_file(inside).value(), "x");
  for (const char* elsewhere : {"/made-by-a-guest", "/etc/made-by-a-guest", "/usr/made-by-a-guest"}) {
    writable.argv[2] = elsewhere;
    EXPECT_EQ(run_spec(writable).exit_code, 1) << elsewhere;
  }
}

TEST_P(SandboxTest, HasAPrivateTemporaryFolder) {
  const Outcome first = run_guest({"temp"});
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_FALSE(fs::exists(first.out.substr(0, first.out.size() - 1))) << first.out;
  EXPECT_EQ(run_guest({"temp"}).exit_code, 0) << "the second finds what the first left";
}

TEST_P(SandboxTest, StartsInItsFolder) {
  Spec spec = test::spec_for(guest(), {"folder"});
  spec.read_only.push_back({folder_->path().string(), ""});
  spec.folder = folder_->path().string();
  EXPECT_EQ(run_spec(spec).out, folder_->path().string() + "\n");
}

TEST_P(SandboxTest, HasNoNetwork) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  Command outside;
  outside.argv = {guest(), "connect", port};
  ASSERT_EQ(run_command(outside)->exit_code, 0);
  EXPECT_EQ(run_guest({"connect", port}).exit_code, 1);
  // Without the filter around it the namespaces alone must do.
  Spec spec = test::spec_for(guest(), {"connect", port});
  spec.brings_filter = true;
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  ::close(listener);
}

TEST_P(SandboxTest, TheDeadlineEndsEveryProcess) {
  Line line;
  Spec spec = test::spec_for(guest(), {"escape", "and linger"});
  spec.descriptors = {{line.theirs, 3}};
  spec.limits.deadline = std::chrono::milliseconds(700);
  const Outcome outcome = run_spec(spec);
  line.close_theirs();
  EXPECT_TRUE(line.is_dead());
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_GE(outcome.seconds, 0.7);
}

TEST_P(SandboxTest, NothingOutlivesTheProgram) {
  Line line, answers;
  Spec spec = test::spec_for(guest(), {"escape"});
  spec.descriptors = {{line.theirs, 3}, {answers.theirs, 4}};
  auto process = start(spec, GetParam());
  ASSERT_TRUE(process.ok()) << process.error().message;
  line.close_theirs();
  for (std::size_t lingering = 0; lingering < 3;) {
    const std::string said = line.read();
    ASSERT_NE(said, "") << "the grandchildren never came";
    lingering += said.size();
  }
  ASSERT_EQ(::write(answers.ours, "xxx", 3), 3);
  const auto outcome = process->finish();
  EXPECT_TRUE(line.is_dead());
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_code, 0);
  EXPECT_FALSE(outcome->timed_out);
}

TEST_P(SandboxTest, TheDestructorEndsIt) {
  Line line;
  {
    Spec spec = test::spec_for(guest(), {"linger"});
    spec.descriptors = {{line.theirs, 3}};
    auto process = start(spec, GetParam());
    ASSERT_TRUE(process.ok());
    line.close_theirs();
    EXPECT_EQ(line.read(), "x");
    EXPECT_FALSE(line.is_dead());
    EXPECT_FALSE(process->wait_for(std::chrono::milliseconds(0)));
  }
  EXPECT_TRUE(line.is_dead());
}

TEST_P(SandboxTest, KillAndNewDeadlines) {
  Line line;
  Spec spec = test::spec_for(guest(), {"linger"});
  spec.descriptors = {{line.theirs, 3}};
  auto killed = start(spec, GetParam());
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(line.read(), "x");
  killed->kill();
  const auto outcome = killed->finish();
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->killed);
  EXPECT_FALSE(outcome->timed_out);
  EXPECT_FALSE(outcome->memory_exceeded);
  EXPECT_FALSE(killed->finish().ok());

  auto hurried = start(spec, GetParam());
  ASSERT_TRUE(hurried.ok());
  hurried->set_deadline(std::chrono::milliseconds(50));
  EXPECT_TRUE(hurried->wait_for(std::chrono::seconds(30)));
  EXPECT_TRUE(hurried->finish()->timed_out);
}

TEST_P(SandboxTest, DiesWithUs) {
  Line line;
  const pid_t us = ::fork();
  if (us == 0) {
    Spec spec = test::spec_for(guest(), {"linger"});
    spec.descriptors = {{line.theirs, 3}};
    const auto process = start(spec, GetParam());
    if (process.ok()) ::pause();
    ::_exit(1);
  }
  line.close_theirs();
  EXPECT_EQ(line.read(), "x");
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  EXPECT_EQ(line.read(), "");  // the end, long before its 20 seconds are over
  EXPECT_TRUE(line.is_dead());
}

TEST_P(SandboxTest, EndsAMemoryHogAndSaysSo) {
  Spec spec = test::spec_for(guest(), {"hog"});
  spec.limits.memory_bytes = 256 << 20;
  const Outcome outcome = run_spec(spec);
  EXPECT_TRUE(outcome.memory_exceeded);
  EXPECT_EQ(outcome.signal, SIGABRT);
  EXPECT_GT(outcome.peak_memory_bytes, std::uint64_t{200} << 20);
  EXPECT_LE(outcome.peak_memory_bytes, std::uint64_t{256} << 20);
}

TEST_P(SandboxTest, KeepsAFloodOfOutputWithinItsCap) {
  Spec spec = test::spec_for(guest(), {"flood"});
  spec.limits.output_cap = 1000;
  const Outcome outcome = run_spec(spec);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_TRUE(outcome.output_truncated);
  EXPECT_EQ(outcome.out, std::string(1000, 'a'));
  EXPECT_EQ(outcome.err, std::string(1000, 'a'));
}

TEST_P(SandboxTest, EndsABusyLoop) {
  Spec spec = test::spec_for(guest(), {"spin"});
  spec.limits.deadline = std::chrono::milliseconds(300);
  EXPECT_TRUE(run_spec(spec).timed_out);
}

TEST_P(SandboxTest, ProcessorTimeEndsABusyLoopLongBeforeTheClock) {
  Spec spec = test::spec_for(guest(), {"spin"});
  spec.limits.processor = std::chrono::milliseconds(900);
  spec.limits.deadline = std::chrono::minutes(5);
  const Outcome outcome = run_spec(spec);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_LT(outcome.seconds, 200);
}

TEST_P(SandboxTest, CanForbidOtherProcesses) {
  EXPECT_EQ(run_guest({"fork"}).exit_code, 0);
  Spec spec = test::spec_for(guest(), {"fork"});
  spec.limits.processes = 1;
  EXPECT_EQ(run_spec(spec).exit_code, 1);
  spec.argv[1] = "thread";
  EXPECT_EQ(run_spec(spec).exit_code, 0);
}

TEST_P(SandboxTest, LimitsFiles) {
  Spec spec = test::spec_for(guest(), {"big-file", (folder_->path() / "big").string()});
  spec.read_write.push_back({folder_->path().string(), ""});
  spec.limits.file_bytes = 1 << 20;
  EXPECT_EQ(run_spec(spec).signal, SIGXFSZ);
  EXPECT_EQ(fs::file_size(folder_->path() / "big"), std::uintmax_t{1} << 20);
}

TEST_P(SandboxTest, PinsToCores) {
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &ours)) last = core;
  Spec spec = test::spec_for(guest(), {"cores"});
  spec.cores = {last};
  EXPECT_EQ(run_spec(spec).out, std::to_string(last) + " ");
}

TEST_P(SandboxTest, CannotSignalOthers) {
  const pid_t victim = ::fork();
  if (victim == 0) {
    for (;;) ::pause();
  }
  EXPECT_EQ(run_guest({"kill", std::to_string(victim)}).exit_code, 1);
  EXPECT_EQ(::waitpid(victim, nullptr, WNOHANG), 0);
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);
}

TEST_P(SandboxTest, TheProgramsThreadsCanBeCountedFromOutside) {
  Line line;
  Spec spec = test::spec_for(guest(), {"threads"});
  spec.descriptors = {{line.theirs, 3}};
  auto process = start(spec, GetParam());
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(line.read(), "x");
  const fs::path tasks = "/proc/" + std::to_string(process->program_pid()) + "/task";
  EXPECT_EQ(std::distance(fs::directory_iterator(tasks), fs::directory_iterator()), 2);
  process->kill();
  EXPECT_TRUE(process->wait_for(std::chrono::seconds(30)));
  EXPECT_EQ(process->program_pid(), 0);
}

TEST_P(SandboxTest, RunsACompiler) {
  const std::string source = (folder_->path() / "kernel.cpp").string(), object = (folder_->path() / "kernel.so").string();
  std::ofstream(source) << "#include <vector>\nextern \"C\" int f() { return (int)std::vector<int>(3).size(); }\n";
  Spec spec;
  spec.argv = {find_program("c++"), "-O1", "-shared", "-fPIC", source, "-o", object};
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  for (const char* system : {"/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache"})
    if (fs::exists(system)) spec.read_only.push_back({system, ""});
  spec.read_write.push_back({folder_->path().string(), ""});
  const Outcome outcome = run_spec(spec);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(object));
}

INSTANTIATE_TEST_SUITE_P(Modes, SandboxTest, ::testing::Values(Mode::bubblewrap, Mode::landlock),
                         [](const auto& mode) { return std::string(name_of(mode.param)); });

TEST(UnconfinedTest, StillHasLimitsAndCleansUp) {
  Line line;
  Spec spec = test::spec_for(guest(), {"escape", "and linger"});
  spec.descriptors = {{line.theirs, 3}};
  spec.limits.deadline = std::chrono::milliseconds(500);
  const auto outcome = run(spec, Mode::none);
  line.close_theirs();
  EXPECT_TRUE(line.is_dead());
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->timed_out);
}

TEST(BubblewrapTest, ShowsAPathElsewhere) {
  KW_NEEDS_SANDBOX(Mode::bubblewrap);
  Spec spec = test::spec_for(guest(), {"read", "/inside/name"});
  spec.read_only.push_back({guest(), "/inside/name"});
  EXPECT_EQ(run(spec, Mode::bubblewrap)->exit_code, 0);
}

TEST(BubblewrapTest, CountsProcesses) {
  KW_NEEDS_SANDBOX(Mode::bubblewrap);
  if (::geteuid() == 0) GTEST_SKIP() << "the kernel doesn't count root's processes";
  Spec spec = test::spec_for(guest(), {"forks"});
  spec.limits.processes = 10;
  EXPECT_EQ(run(spec, Mode::bubblewrap)->out, "9");
}

TEST(ChooseModeTest, ObeysTheEnvironment) {
  for (const Mode mode : {Mode::bubblewrap, Mode::landlock}) {
    if (!try_mode(mode)) continue;
    ::setenv("KERNELWRIGHT_SANDBOX", std::string(name_of(mode)).c_str(), 1);
    const auto chosen = choose_mode(false);
    ::unsetenv("KERNELWRIGHT_SANDBOX");
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_EQ(*chosen, mode);
  }
}

}  // namespace
}  // namespace kw::sandbox
