#include "base/cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_home.h"

namespace kw {
namespace {

class CacheTest : public ::testing::Test {
 protected:
  // A draw of a thousand bytes that was used so many hours ago.
  [[nodiscard]] fs::path draw(const std::string& name, int hours) const {
    fs::path folder = home_.cache() / "tensors" / name;
    EXPECT_TRUE(make_folders(folder / "given-given-0").ok());
    EXPECT_TRUE(write_file_atomically(folder / "given-given-0" / "inputs.safetensors", std::string(1000, 'x')).ok());
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return folder;
  }
  testing::TempHome home_{testing::CacheIs::own};
};

TEST_F(CacheTest, WhatIsInUseStaysHoweverOldItIs) {
  const fs::path old = draw("a-1/1-float32", 9), middle = draw("a-1/2-float32", 5), newest = draw("b-1/3-float32", 1);
  CacheLease lease = use_cached(old, Missing::leave);
  ASSERT_TRUE(lease);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(9));
  const CacheLease shared = use_cached(old, Missing::leave);  // by two at once
  EXPECT_TRUE(shared);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(9));
  CacheSweep sweep = shrink_cache(10);
  EXPECT_TRUE(fs::exists(old) && fs::exists(newest));
  EXPECT_FALSE(fs::exists(middle));
  EXPECT_EQ(sweep.removed, 1);
  EXPECT_EQ(sweep.removed_bytes, 1000);
  EXPECT_EQ(sweep.left_bytes, 2000);
  sweep = shrink_cache(0, false);
  EXPECT_TRUE(fs::exists(old));
  EXPECT_FALSE(fs::exists(newest)) << "clearing spares nothing that is unused";
  ASSERT_EQ(cache_entries().size(), 1U);
  EXPECT_TRUE(cache_entries()[0].in_use);
}

TEST_F(CacheTest, AnotherProcessKeepsItsOwnUntilItDies) {
  const fs::path folder = draw("a-1/1-float32", 9);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const CacheLease lease = use_cached(folder, Missing::leave);
    (void)!::write(ready[1], lease ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  shrink_cache(0, false);
  EXPECT_TRUE(fs::exists(folder));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  shrink_cache(0, false);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(CacheTest, HeadersAndCompiledGraphsCountToo) {
  const fs::path headers = home_.cache() / "headers" / "abc", compiled = home_.cache() / "inductor" / "x" / "y";
  ASSERT_TRUE(make_folders(headers).ok() && make_folders(compiled).ok());
  ASSERT_TRUE(write_file_atomically(headers / "headers.h.gch", std::string(500, 'x')).ok());
  ASSERT_TRUE(write_file_atomically(compiled / "kernel.so", std::string(700, 'x')).ok());
  fs::last_write_time(headers, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const fs::path machine = home_.cache() / "machines" / "m.json", model = home_.cache() / "models" / "m.gguf";
  for (const fs::path& kept : {machine, model}) {
    ASSERT_TRUE(make_folders(kept.parent_path()).ok());
    ASSERT_TRUE(write_file_atomically(kept, "1234").ok());
  }
  EXPECT_EQ(cache_entries().size(), 2U);
  EXPECT_GE(kept_cache_bytes(), 8);
  EXPECT_EQ(shrink_cache(800).left_bytes, 700);
  EXPECT_FALSE(fs::exists(headers));
  shrink_cache(0, false);
  EXPECT_FALSE(fs::exists(home_.cache() / "inductor"));
  EXPECT_TRUE(fs::exists(machine) && fs::exists(model)) << "what took minutes to make, or was downloaded, stays";
}

TEST_F(CacheTest, CopiesOfPyTorchsCodeCountAndGo) {
  const fs::path older = home_.cache() / "torch-without-kernels" / "a-1", newer = home_.cache() / "torch-without-kernels" / "b-2";
  for (const fs::path& copy : {older, newer}) {
    ASSERT_TRUE(make_folders(copy).ok());
    ASSERT_TRUE(write_file_atomically(copy / "code", std::string(300, 'x')).ok());
  }
  fs::last_write_time(older, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_EQ(cache_entries().size(), 2U);
  EXPECT_EQ(cache_entries()[0].kind, "torch");
  EXPECT_EQ(cache_entries()[0].bytes, 300);
  EXPECT_EQ(shrink_cache(400).left_bytes, 300);
  EXPECT_FALSE(fs::exists(older));
  {
    const CacheLease lease = use_cached(newer, Missing::leave);
    remove_cached(newer);
    EXPECT_TRUE(fs::exists(newer));
  }
  shrink_cache(0, false);
  EXPECT_FALSE(fs::exists(newer));
}

TEST_F(CacheTest, WhatWasLeftHalfMadeGoesUnlessItIsBeingMade) {
  const fs::path whole = draw("a-1/1-float32", 1);
  const fs::path left = whole / ".making.abcdef", headers = home_.cache() / "headers" / ".making.123456",
                 older = home_.cache() / "headers" / "making.123456";
  for (const fs::path& each : {left, headers, older}) ASSERT_TRUE(make_folders(each / "in").ok());
  auto work = CacheWorkFolder::make_in(whole);
  ASSERT_TRUE(work.ok());
  const fs::path made_now = work->path();
  shrink_cache(1e9);
  for (const fs::path& each : {left, headers, older}) EXPECT_FALSE(fs::exists(each)) << each;
  EXPECT_TRUE(fs::exists(made_now));
  EXPECT_TRUE(fs::exists(whole / "given-given-0"));
  fs::rename(made_now, whole / "mixed-fresh-0");  // moved into place, it is no leftover
  { const CacheWorkFolder gone = std::move(*work); }
  shrink_cache(1e9);
  EXPECT_TRUE(fs::exists(whole / "mixed-fresh-0"));
}

TEST_F(CacheTest, ALimitThatWasSetIsKept) {
  EXPECT_EQ(cache_limit(), 4e9);
  ASSERT_TRUE(set_cache_limit(5e8).ok());
  EXPECT_EQ(cache_limit(), 5e8);
  {
    const testing::ScopedVariable chosen("KERNELWRIGHT_CACHE_GB", "2");
    EXPECT_EQ(cache_limit(), 2e9) << "the environment counts first";
  }
  for (const char* nonsense : {"", "{", "[1]", "{\"bytes\": \"much\"}", "{\"bytes\": -1}"}) {
    ASSERT_TRUE(write_file_atomically(home_.cache() / "limit.json", nonsense).ok());
    EXPECT_EQ(cache_limit(), 4e9) << nonsense;
  }
}

TEST_F(CacheTest, NothingThereIsNoHarm) {
  EXPECT_FALSE(use_cached(home_.cache() / "tensors" / "none", Missing::leave));
  EXPECT_EQ(shrink_cache(0, false).removed, 0);
  EXPECT_TRUE(cache_entries().empty());
  EXPECT_TRUE(use_cached(home_.cache() / "tensors" / "new" / "1-float32", Missing::make));
}

}  // namespace
}  // namespace kw
