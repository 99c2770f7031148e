#include "runner/buffers.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kw::runner {
namespace {

TEST(BuffersError, DataThatIsTooShortIsAnErrorWithTheArgumentsName) {
  Spec spec;
  spec.shared_weights = false;
  spec.arguments = {{"x", Role::weight, 8192, 8192, 0, 0}};
  const int file = ::memfd_create("kw-test", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, 4096), 0);
  const auto buffers = Buffers::map(spec, file);
  ::close(file);
  ASSERT_FALSE(buffers.ok());
  EXPECT_NE(buffers.error().message.find("'x'"), std::string::npos);
}

TEST(BuffersError, NoDescriptorAndNoMemoryAreErrors) {
  Spec spec;
  spec.arguments = {{"x", Role::weight, 4096, 4096, 0, 0}};
  EXPECT_FALSE(Buffers::map(spec, -1).ok());
  spec.arguments = {{"x", Role::input, 4096, 4096, 0, 0}};
  const auto without = Buffers::map(spec, -1);
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->bring(-1).ok());
  spec.arguments = {{"huge", Role::output, std::uint64_t{1} << 60, std::uint64_t{1} << 60, 0, 0}};
  const auto buffers = Buffers::map(spec, -1);
  ASSERT_FALSE(buffers.ok());
  EXPECT_NE(buffers.error().message.find("'huge'"), std::string::npos);
}

TEST(ProtocolError, ADamagedSpecIsRefused) {
  const Json whole = Spec{};
  for (const auto& [name, value] : whole.items()) {
    Json damaged = whole;
    damaged.erase(name);
    EXPECT_FALSE(read_fields("the spec", [&] { return damaged.get<Spec>(); }).ok()) << name;
  }
}

}  // namespace
}  // namespace kw::runner
