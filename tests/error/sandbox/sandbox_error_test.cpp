#include <cstdlib>

#include "sandbox/library_files.h"
#include "sandbox/sandbox.h"
#include "support/sandbox_guest.h"

namespace kw::sandbox {
namespace {

const std::string& program() {
  static const std::string path = test::compile("int main(void) { return 0; }", {});
  return path;
}

class SandboxErrorTest : public ::testing::TestWithParam<Mode> {
 protected:
  void SetUp() override { KW_NEEDS_SANDBOX(GetParam()); }
  std::string error_of(const Spec& spec) {
    const auto outcome = run(spec, GetParam());
    EXPECT_FALSE(outcome.ok());
    return outcome.ok() ? "" : outcome.error().message;
  }
};

TEST_P(SandboxErrorTest, AMissingProgramIsNotAnExitCode) {
  Spec spec = test::spec_for(program(), {});
  spec.argv[0] = "/no/such/program";
  const std::string message = error_of(spec);
  EXPECT_NE(message.find("/no/such/program"), std::string::npos) << message;
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
}

TEST_P(SandboxErrorTest, AMissingBindIsNamed) {
  Spec spec = test::spec_for(program(), {});
  spec.read_only.push_back({"/no/such/folder", ""});
  EXPECT_NE(error_of(spec).find("/no/such/folder"), std::string::npos);
}

TEST_P(SandboxErrorTest, RefusesWhatCannotBe) {
  const Spec good = test::spec_for(program(), {});
  Spec spec = good;
  spec.argv = {"relative"};
  EXPECT_NE(error_of(spec).find("relative"), std::string::npos);
  spec.argv = {};
  error_of(spec);
  spec = good;
  spec.descriptors = {{0, 1}};
  EXPECT_NE(error_of(spec).find("descriptor 0"), std::string::npos);
  spec.descriptors = {{250, 3}};
  EXPECT_NE(error_of(spec).find("descriptor 250"), std::string::npos);
  spec = good;
  spec.cores = {1000};
  EXPECT_NE(error_of(spec).find("core"), std::string::npos);
  spec = good;
  spec.folder = "/no/such/folder";
  error_of(spec);
  EXPECT_TRUE(run(good, GetParam()).ok());
}

INSTANTIATE_TEST_SUITE_P(Modes, SandboxErrorTest, ::testing::Values(Mode::bubblewrap, Mode::landlock, Mode::none),
                         [](const auto& mode) { return std::string(name_of(mode.param)); });

TEST(LandlockErrorTest, RefusesWhatItCannotKeep) {
  KW_NEEDS_SANDBOX(Mode::landlock);
  Spec elsewhere = test::spec_for(program(), {});
  elsewhere.read_only.push_back({program(), "/another/name"});
  const auto moved = run(elsewhere, Mode::landlock);
  ASSERT_FALSE(moved.ok());
  EXPECT_NE(moved.error().message.find("/another/name"), std::string::npos);

  auto folder = TempFolder::make("kw-nested");
  ASSERT_TRUE(folder.ok());
  fs::create_directory(folder->path() / "inner");
  Spec nested = test::spec_for(program(), {});
  nested.read_write.push_back({folder->path().string(), ""});
  nested.read_only.push_back({(folder->path() / "inner").string(), ""});
  const auto refused = run(nested, Mode::landlock);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("inner"), std::string::npos);
}

// PATH is a folder with `true` in it and nothing else.
class WithoutBubblewrapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    const std::string harmless = find_program("true");
    folder_.emplace(std::move(TempFolder::make("kw-path").value()));
    fs::create_symlink(harmless, folder_->path() / "true");
    ::setenv("PATH", folder_->path().c_str(), 1);
    ::setenv("KERNELWRIGHT_SANDBOX", "bubblewrap", 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("KERNELWRIGHT_SANDBOX");
  }
  std::string path_;
  std::optional<TempFolder> folder_;
};

TEST_F(WithoutBubblewrapTest, ChooseModeSaysWhatToInstall) {
  const auto mode = choose_mode(false);
  ASSERT_FALSE(mode.ok());
  EXPECT_EQ(mode.error().kind, ErrorKind::bad_input);
  EXPECT_NE(mode.error().message.find("bwrap"), std::string::npos) << mode.error().message;
  EXPECT_NE(mode.error().hint.find("--unsafe-no-sandbox"), std::string::npos);
  EXPECT_NE(mode.error().hint.find("apt install bubblewrap"), std::string::npos);
}

TEST_F(WithoutBubblewrapTest, NoneOnlyWhenAllowed) {
  const auto mode = choose_mode(true);
  ASSERT_TRUE(mode.ok());
  EXPECT_EQ(*mode, Mode::none);
}

TEST(ChooseModeErrorTest, AnUnknownSandboxIsRefused) {
  ::setenv("KERNELWRIGHT_SANDBOX", "castle", 1);
  const auto mode = choose_mode(true);
  ::unsetenv("KERNELWRIGHT_SANDBOX");
  ASSERT_FALSE(mode.ok());
  EXPECT_NE(mode.error().message.find("castle"), std::string::npos);
}

TEST(LibraryFilesErrorTest, NamesWhatIsMissing) {
  const auto absent = library_files("/no/such/program");
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("/no/such/program"), std::string::npos);

  auto folder = TempFolder::make("kw-missing-library");
  ASSERT_TRUE(folder.ok());
  const std::string library = (folder->path() / "libkwgone.so").string();
  fs::copy_file(test::compile("int gone(void) { return 1; }", {"-shared", "-fPIC"}), library);
  const std::string user =
      test::compile("int gone(void); int main(void) { return gone(); }", {"-L" + folder->path().string(), "-l:libkwgone.so"});
  const auto broken = library_files(user);
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message.find("libkwgone.so"), std::string::npos) << broken.error().message;
}

}  // namespace
}  // namespace kw::sandbox
