#include "serve/host_check.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(HostCheck, OnThisMachineAloneOnlyItsOwnNamesCount) {
  const HostRule rule{"127.0.0.1", 8080, {}};
  for (const char* own : {"127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080", "127.9.9.9:8080"})
    EXPECT_TRUE(is_own_host(rule, own)) << own;
  for (const char* foreign :
       {"", ":8080", "localhost", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8080.evil.example", "evil.example:8080", "10.0.0.7:8080",
        "localhost.evil.example:8080", "[::1", "[]:8080", "127.0.0.1:8080:8080", "2130706433:8080"})
    EXPECT_FALSE(is_own_host(rule, foreign)) << foreign;
}

TEST(HostCheck, ElsewhereAddressesAndNamedHostsCount) {
  const HostRule rule{"0.0.0.0", 8080, {"Build.example"}};
  for (const char* own : {"10.0.0.7:8080", "[fe80::1]:8080", "build.example:8080", "localhost:8080"})
    EXPECT_TRUE(is_own_host(rule, own)) << own;
  for (const char* foreign : {"evil.example:8080", "build.example.evil:8080", "10.0.0.7:81"})
    EXPECT_FALSE(is_own_host(rule, foreign)) << foreign;
}

TEST(HostCheck, ThePortMayBeLeftOutWhereItIsTheUsualOne) { EXPECT_TRUE(is_own_host({"127.0.0.1", 80, {}}, "localhost")); }

}  // namespace
}  // namespace kw
