#include "base/cores.h"

#include <gtest/gtest.h>

#include <thread>

namespace kw {
namespace {

TEST(UsableCores, AreOnesThatThisProcessMayUse) {
  EXPECT_EQ(usable_cores(1).size(), 1u);
  EXPECT_TRUE(usable_cores(0).empty());
  const auto all = usable_cores(1 << 20);
  EXPECT_GE(all.size(), 1u);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1], all[i]);
}

TEST(UsableCores, AreOneAfterStayingOnIt) {
  const int last = usable_cores().back();
  std::vector<int> left;
  std::thread([&] {
    stay_on_core(last);
    left = usable_cores();
  }).join();
  EXPECT_EQ(left, std::vector<int>{last});
}

}  // namespace
}  // namespace kw
