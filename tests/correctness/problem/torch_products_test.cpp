#include "problem/torch_products.h"

#include <gtest/gtest.h>

#include "base/timing_environment.h"
#include "problem/oracle_client.h"
#include "support/temp_home.h"

namespace kw {
namespace {

// Stands for a Python whose PyTorch dies of bfloat16 unless oneDNN is held to what the processor runs: tried for its products, it
// names the types that run; as the oracle, it answers one request at a time. It counts its starts in $STARTS.
constexpr const char* kPython = R"(#!/bin/sh
echo "$2 $ONEDNN_MAX_CPU_ISA" >> "$STARTS"
case "$ONEDNN_MAX_CPU_ISA" in $RUNS_WITH) runs=yes ;; *) runs=no ;; esac
if [ "$2" = kw_oracle.products ]; then
  echo float32
  [ $runs = yes ] || kill -"$SIGNAL" $$
  echo bfloat16
  echo float16
  exit 0
fi
while read -r request; do
  [ $runs = yes ] || kill -"$SIGNAL" $$
  id=$(echo "$request" | sed 's/.*"id":\([0-9]*\).*/\1/')
  echo "{\"id\":$id,\"ok\":true,\"result\":{\"held_to\":\"$ONEDNN_MAX_CPU_ISA\"}}"
done
)";

class TorchProductsTest : public ::testing::Test {
 protected:
  TorchProductsTest() { fs::permissions(python_, fs::perms::owner_all); }

  [[nodiscard]] std::string starts() const {
    const auto text = read_file(starts_);
    return text ? *text : "";
  }

  testing::TempHome home_{testing::CacheIs::own};
  fs::path python_ = home_.write("python", kPython), starts_ = home_.write("starts", "");
  testing::ScopedVariable chosen_{"KERNELWRIGHT_PYTHON", python_.string()}, counted_{"STARTS", starts_.string()},
      own_{kOneDnnVariable, std::nullopt}, signal_{"SIGNAL", "ILL"}, runs_with_{"RUNS_WITH", "AVX512_CORE_BF16"};
};

TEST_F(TorchProductsTest, AnOracleThatDiesOfAnInstructionLivesWithFewerOfThem) {
  std::string said;
  OracleClient oracle({1, {}, [&](std::string_view text) { said += text; }});
  const auto answer = oracle.ask("describe", Json::object());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->at("held_to"), "AVX512_CORE_BF16");
  EXPECT_NE(said.find("SIGILL in bfloat16"), std::string::npos) << said;
  EXPECT_NE(said.find("ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"), std::string::npos) << said;

  // Whatever else computes with PyTorch is held to the same, and nothing is tried again.
  EXPECT_EQ(timing_environment().at(kOneDnnVariable), "AVX512_CORE_BF16");
  const std::string before = starts();
  OracleClient next({1, {}, {}});
  EXPECT_TRUE(next.ask("describe", Json::object()).ok());
  EXPECT_EQ(starts(), before + "kw_oracle AVX512_CORE_BF16\n");
}

TEST_F(TorchProductsTest, WhatRunsIsHeldToNothing) {
  const testing::ScopedVariable all("RUNS_WITH", "*");
  const auto products = torch_products();
  ASSERT_TRUE(products.ok()) << products.error().message;
  EXPECT_EQ(products->running, (std::vector<std::string>{"float32", "bfloat16", "float16"}));
  EXPECT_EQ(products->limit, "");
  EXPECT_EQ(why_onednn_is_held(*products), "");
  EXPECT_FALSE(timing_environment().contains(kOneDnnVariable));
  EXPECT_EQ(starts(), "kw_oracle.products \n") << "one process is enough";
  EXPECT_TRUE(torch_products().ok());
  EXPECT_EQ(starts(), "kw_oracle.products \n") << "it is kept";
  EXPECT_TRUE(torch_products(true).ok());
  EXPECT_EQ(starts(), "kw_oracle.products \nkw_oracle.products \n");
}

TEST_F(TorchProductsTest, WhereNoLimitHelpsNoneIsSet) {
  const testing::ScopedVariable none("RUNS_WITH", "never");
  const auto products = torch_products();
  ASSERT_TRUE(products.ok()) << products.error().message;
  EXPECT_EQ(products->running, std::vector<std::string>{"float32"});
  EXPECT_EQ(products->limit, "");
  EXPECT_EQ(products->died_of, "SIGILL in bfloat16");
}

TEST_F(TorchProductsTest, TheUsersOwnLimitIsTaken) {
  const testing::ScopedVariable own(kOneDnnVariable, "AVX2");
  EXPECT_EQ(timing_environment().at(kOneDnnVariable), "AVX2");
  const testing::ScopedVariable with("RUNS_WITH", "AVX2");
  EXPECT_TRUE(OracleClient({1, {}, {}}).ask("describe", Json::object()).ok());
  EXPECT_FALSE(fs::exists(onednn_record_file()));
}

TEST_F(TorchProductsTest, ADamagedRecordIsNotUsed) {
  ASSERT_TRUE(make_folders(onednn_record_file().parent_path()).ok());
  for (const char* damage : {"", "{", "[]", R"({"torch": 1})"}) {
    ASSERT_TRUE(write_file_atomically(onednn_record_file(), damage).ok());
    EXPECT_FALSE(onednn_record().has_value()) << damage;
    EXPECT_EQ(onednn_limit(), "") << damage;
  }
}

TEST_F(TorchProductsTest, ADeathNamesItsSignal) {
  const testing::ScopedVariable none("RUNS_WITH", "never");
  for (const auto& [signal, name, hint] :
       {std::tuple{"ILL", "SIGILL", "doctor"}, {"SEGV", "SIGSEGV", "doctor"}, {"KILL", "SIGKILL", "memory"}}) {
    const testing::ScopedVariable sent("SIGNAL", signal);
    const auto answer = OracleClient({1, {}, {}}).ask("describe", Json::object());
    ASSERT_FALSE(answer.ok());
    EXPECT_NE(answer.error().message.find(name), std::string::npos) << answer.error().message;
    EXPECT_NE(answer.error().hint.find(hint), std::string::npos) << answer.error().hint;
    EXPECT_EQ(answer.error().hint.find("memory") != std::string::npos, std::string(signal) != "ILL") << answer.error().hint;
  }
}

}  // namespace
}  // namespace kw
