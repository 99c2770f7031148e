#include "report/numbers.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Numbers, SecondsInTheUnitThatPeopleRead) {
  EXPECT_EQ(human_seconds(0), "0.00 ns");
  EXPECT_EQ(human_seconds(12.3e-9), "12.3 ns");
  EXPECT_EQ(human_seconds(4.56e-6), "4.56 us");
  EXPECT_EQ(human_seconds(1.234e-3), "1.23 ms");
  EXPECT_EQ(human_seconds(0.25), "250 ms");
  EXPECT_EQ(human_seconds(1), "1.00 s");
  EXPECT_EQ(human_seconds(75.5), "75.50 s");
}

TEST(Numbers, WhatRoundsUpTakesTheNextUnit) {
  EXPECT_EQ(human_seconds(999.9e-9), "1.00 us");
  EXPECT_EQ(human_seconds(999.9e-6), "1.00 ms");
  EXPECT_EQ(human_seconds(0.9999), "1.00 s");
  EXPECT_EQ(human_bytes(999.9), "1.00 kB");
  EXPECT_EQ(human_bytes(999.9e3), "1.00 MB");
  EXPECT_EQ(human_count(999.9), "1.00 k");
}

TEST(Numbers, BytesAreDecimal) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(4096), "4.10 kB");
  EXPECT_EQ(human_bytes(64e6), "64.0 MB");
  EXPECT_EQ(human_bytes(2.5e12), "2.50 TB");
  EXPECT_EQ(human_bytes(5e15), "5000 TB");
}

TEST(Numbers, CountsHaveAPrefixOnlyFromAThousand) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(42), "42");
  EXPECT_EQ(human_count(1000), "1.00 k");
  EXPECT_EQ(human_count(12.34e9), "12.3 G");
}

}  // namespace
}  // namespace kw
