#include "sandbox/library_files.h"

#include <algorithm>

#include "support/sandbox_guest.h"

namespace kw::sandbox {
namespace {

TEST(LibraryFilesTest, FindsLoaderAndLibraries) {
  const std::string program = test::compile("#include <math.h>\nint main(int c, char** v) { return (int)sin(c + 1.0); }", {"-lm"});
  const auto files = library_files(program);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->front(), program);
  const auto has = [&](const std::string& part) {
    return std::any_of(files->begin(), files->end(), [&](const std::string& file) { return file.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("libc.so"));
  EXPECT_TRUE(has("libm.so"));
  EXPECT_TRUE(has("ld-linux"));
  for (const std::string& file : *files) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST(LibraryFilesTest, RunsNothingOfTheExecutable) {
  const std::string source =
      "#include <stdio.h>\n__attribute__((constructor)) void f() { fopen(TRACE, \"w\"); }\nint main() { f(); }";
  auto place = TempFolder::make("kw-library-files");
  ASSERT_TRUE(place.ok());
  const std::string path = (place->path() / "trace").string();
  const std::string program = test::compile(source, {"-DTRACE=\"" + path + "\""});
  ASSERT_TRUE(library_files(program).ok());
  EXPECT_FALSE(fs::exists(path));
  Command command;
  command.argv = {program};
  ASSERT_TRUE(run_command(command).ok());
  EXPECT_TRUE(fs::exists(path)) << "the constructor would have left its trace";
}

TEST(LibraryFilesTest, AStaticProgramNeedsOnlyItself) {
  const std::string program = test::compile("void _start(void) { for (;;); }", {"-static", "-nostdlib"});
  const auto files = library_files(program);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(*files, std::vector<std::string>{program});
}

}  // namespace
}  // namespace kw::sandbox
