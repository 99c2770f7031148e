#include "runner/buffers.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace kw::runner {
namespace {

constexpr std::uint64_t kPoison = 0x0102030405060708ULL;

Spec spec() {
  Spec spec;
  spec.out_slots = 2;
  spec.arguments = {{"x", Role::input, 100, 4096, 3968, 0},
                    {"s", Role::scalar, 8, 4096, 4032, 0},
                    {"w", Role::weight, 8192, 8192, 0, 0},
                    {"out", Role::output, 4000, 4096, 64, kPoison},
                    {"b", Role::weight, 8, 4096, 4032, 0}};
  return spec;
}

// A file whose every byte tells its page, counted from `first`.
class DataFile {
 public:
  explicit DataFile(std::uint64_t size, std::size_t first = 1) : descriptor_(::memfd_create("kw-test", MFD_CLOEXEC)) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i / 4096 + first);
    EXPECT_EQ(::pwrite(descriptor_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile() { ::close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

TEST(Protocol, WeightsAndInputsHaveFilesOfTheirOwn) {
  const Spec all = spec();
  EXPECT_EQ(file_offset(all, 2), 0u);
  EXPECT_EQ(file_offset(all, 4), 8192u);
  EXPECT_EQ(weights_bytes(all), 12288u);
  EXPECT_EQ(file_offset(all, 0), 0u);
  EXPECT_EQ(file_offset(all, 1), 4096u);
  EXPECT_EQ(inputs_bytes(all), 8192u);
}

TEST(Protocol, ASpecSurvivesJson) {
  const Json json = spec();
  EXPECT_EQ(Json(parse_json(json.dump(), "spec")->get<Spec>()), json);
  EXPECT_EQ(json.at("arguments").at(1).at("role"), "scalar");
}

TEST(Buffers, ArgumentsPointAtTheirData) {
  for (const bool shared : {true, false}) {
    Spec all = spec();
    all.shared_weights = shared;
    const DataFile weights(weights_bytes(all)), inputs(inputs_bytes(all), 50);
    const auto buffers = Buffers::map(all, weights.descriptor());
    ASSERT_TRUE(buffers.ok()) << buffers.error().message;
    ASSERT_TRUE(buffers->bring(inputs.descriptor()).ok());
    const auto arguments = buffers->arguments(0);
    ASSERT_EQ(arguments.size(), 5u);
    for (const std::size_t i : {0u, 1u, 2u, 4u}) {
      EXPECT_EQ(arguments[i], buffers->region(i, 0) + all.arguments[i].lead);
      const std::size_t first = is_input(all.arguments[i]) ? 50 : 1;
      EXPECT_EQ(*static_cast<char*>(arguments[i]), static_cast<char>(file_offset(all, i) / 4096 + first)) << "argument " << i;
    }
    EXPECT_EQ(buffers->arguments(0)[2], buffers->arguments(1)[2]) << "one copy of the weights";
    EXPECT_NE(buffers->arguments(0)[3], buffers->arguments(1)[3]);
  }
}

TEST(Buffers, InputsAreZerosUntilASetIsBroughtAndOneTakesThePlaceOfTheOther) {
  const Spec all = spec();
  const DataFile weights(weights_bytes(all)), first(inputs_bytes(all), 50), second(inputs_bytes(all), 60);
  const auto buffers = Buffers::map(all, weights.descriptor());
  ASSERT_TRUE(buffers.ok());
  const auto x = [&] { return *static_cast<char*>(buffers->arguments(0)[0]); };
  EXPECT_EQ(x(), 0);
  ASSERT_TRUE(buffers->bring(first.descriptor()).ok());
  EXPECT_EQ(x(), 50);
  ASSERT_TRUE(buffers->bring(second.descriptor()).ok());
  EXPECT_EQ(x(), 60);
  ASSERT_TRUE(buffers->take_away().ok());
  EXPECT_EQ(x(), 0);
  const auto places = buffers->input_places();
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[1].address, buffers->region(1, 0));
  EXPECT_EQ(places[1].offset, 4096u);
}

TEST(Buffers, OutputsAreFilledWithPoisonIncludingTheirSurroundings) {
  const Spec all = spec();
  const DataFile file(weights_bytes(all));
  const auto buffers = Buffers::map(all, file.descriptor());
  ASSERT_TRUE(buffers.ok());
  const auto is_poison = [&](int out_slot) {
    const char* region = buffers->region(3, out_slot);
    for (std::size_t i = 0; i < 4096; i += 8)
      if (std::memcmp(region + i, &kPoison, 8) != 0) return false;
    return true;
  };
  EXPECT_TRUE(is_poison(0) && is_poison(1));
  std::memset(buffers->region(3, 0), 1, 4096);
  std::memset(buffers->region(3, 1), 1, 4096);
  buffers->poison(0);
  EXPECT_TRUE(is_poison(0));
  EXPECT_FALSE(is_poison(1)) << "the other slot is left alone";
}

TEST(Buffers, SharedContentsShowChangesAndCopiesDoNot) {
  for (const bool shared : {true, false}) {
    Spec all = spec();
    all.shared_weights = shared;
    const DataFile file(weights_bytes(all));
    const auto buffers = Buffers::map(all, file.descriptor());
    ASSERT_TRUE(buffers.ok());
    const char changed = 99;
    ASSERT_EQ(::pwrite(file.descriptor(), &changed, 1, static_cast<off_t>(file_offset(all, 2))), 1);
    EXPECT_EQ(*static_cast<char*>(buffers->arguments(0)[2]) == changed, shared);
  }
}

TEST(Buffers, AnEmptyTensorHasAnAddressOfItsOwn) {
  Spec all = spec();
  all.arguments[0] = {"none", Role::input, 0, 0, 0, 0};
  const DataFile file(weights_bytes(all));
  const auto buffers = Buffers::map(all, file.descriptor());
  ASSERT_TRUE(buffers.ok()) << buffers.error().message;
  EXPECT_NE(buffers->arguments(0)[0], nullptr);
}

TEST(BuffersDeathTest, GuardsAndInputsFault) {
  ::testing::FLAGS_gtest_death_test_style = "fast";
  const Spec all = spec();
  const DataFile file(weights_bytes(all));
  const auto buffers = Buffers::map(all, file.descriptor());
  ASSERT_TRUE(buffers.ok());
  const auto touch = [](volatile char* at) {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit
    *at = 1;
  };
  const auto look = [](const volatile char* at) {
    std::signal(SIGSEGV, SIG_DFL);
    return *at;
  };
  char* output = buffers->region(3, 0);
  output[0] = output[4095] = 1;
  EXPECT_EXIT(touch(output - 1), ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(touch(output + 4096), ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(touch(output + 4096 + kGuardBytes - 1), ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT((void)look(output - kGuardBytes), ::testing::KilledBySignal(SIGSEGV), "");
  for (const std::size_t read_only : {0u, 1u, 2u, 4u})
    EXPECT_EXIT(touch(buffers->region(read_only, 0)), ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace kw::runner
