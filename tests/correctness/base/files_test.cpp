#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>
#include <vector>

#include "support/temp_home.h"

namespace kw {
namespace {

using testing::ScopedVariable;

TempFolder folder() { return std::move(TempFolder::make("kw-files")).value(); }

TEST(Files, ReadsBackEveryByte) {
  const TempFolder temp = folder();
  std::string content;
  for (int i = 0; i < 200000; ++i) content += static_cast<char>(i * 7);
  ASSERT_TRUE(write_file_atomically(temp.path() / "bytes", content).ok());
  const auto read = read_file(temp.path() / "bytes");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, content);
}

TEST(Files, AnEmptyFileIsEmptyAndNotAnError) {
  const TempFolder temp = folder();
  ASSERT_TRUE(write_file_atomically(temp.path() / "empty", "").ok());
  const auto read = read_file(temp.path() / "empty");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, "");
}

TEST(Files, WritingReplacesAndLeavesNothingBeside) {
  const TempFolder temp = folder();
  ASSERT_TRUE(write_file_atomically(temp.path() / "a", "a long first version").ok());
  ASSERT_TRUE(write_file_atomically(temp.path() / "a", "short").ok());
  EXPECT_EQ(*read_file(temp.path() / "a"), "short");
  EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator()), 1);
}

TEST(Files, AWrittenFileIsReadableForOthers) {
  const TempFolder temp = folder();
  ASSERT_TRUE(write_file_atomically(temp.path() / "a", "x").ok());
  struct stat status {};
  ASSERT_EQ(::stat((temp.path() / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST(Files, AReaderNeverSeesHalfAFile) {
  const TempFolder temp = folder();
  const fs::path file = temp.path() / "contended";
  const std::string versions[] = {std::string(300000, 'a'), std::string(300000, 'b')};
  ASSERT_TRUE(write_file_atomically(file, versions[0]).ok());
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 40; ++i) EXPECT_TRUE(write_file_atomically(file, versions[w]).ok());
    });
  for (int i = 0; i < 80; ++i) {
    const auto read = read_file(file);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(*read == versions[0] || *read == versions[1]) << read->size() << " bytes, mixed or cut";
  }
  for (auto& writer : writers) writer.join();
}

TEST(TempFolder, GoesWithEverythingInIt) {
  fs::path path;
  {
    const TempFolder temp = folder();
    path = temp.path();
    ASSERT_TRUE(make_folders(path / "deep" / "deeper").ok());
    ASSERT_TRUE(write_file_atomically(path / "deep" / "deeper" / "file", "x").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempFolder, MovesWithItsObject) {
  TempFolder first = folder();
  const fs::path path = first.path();
  {
    const TempFolder second = std::move(first);
    EXPECT_EQ(second.path(), path);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempFolder, TwoAreNeverTheSame) {
  const TempFolder first = folder(), second = folder();
  EXPECT_NE(first.path(), second.path());
}

TEST(Homes, OwnVariableBeforeXdgBeforeHome) {
  const ScopedVariable home("HOME", "/somewhere");
  {
    const ScopedVariable own("KERNELWRIGHT_HOME", "/own/data"), cache("KERNELWRIGHT_CACHE", "/own/cache");
    const ScopedVariable xdg_data("XDG_DATA_HOME", "/xdg/data"), xdg_cache("XDG_CACHE_HOME", "/xdg/cache");
    EXPECT_EQ(data_home(), "/own/data");
    EXPECT_EQ(cache_home(), "/own/cache");
  }
  const ScopedVariable own("KERNELWRIGHT_HOME", std::nullopt), cache("KERNELWRIGHT_CACHE", "");
  {
    const ScopedVariable xdg_data("XDG_DATA_HOME", "/xdg/data"), xdg_cache("XDG_CACHE_HOME", "/xdg/cache");
    EXPECT_EQ(data_home(), "/xdg/data/kernelwright");
    EXPECT_EQ(cache_home(), "/xdg/cache/kernelwright");
  }
  const ScopedVariable xdg_data("XDG_DATA_HOME", std::nullopt), xdg_cache("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(data_home(), "/somewhere/.local/share/kernelwright");
  EXPECT_EQ(cache_home(), "/somewhere/.cache/kernelwright");
}

TEST(InstallRoot, IsWhereTheOracleIs) {
  const auto root = install_root();
  ASSERT_TRUE(root.ok()) << root.error().message;
  EXPECT_TRUE(fs::exists(*root / "oracle" / "kw_oracle" / "__main__.py"));
}

}  // namespace
}  // namespace kw
