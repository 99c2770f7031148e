// Reading compiled kernels: real output of objdump in tests/cases/profile, and objects that are compiled here.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/subprocess.h"
#include "profile/assembly_hash.h"
#include "profile/control_flow.h"
#include "profile/instruction_kinds.h"
#include "profile/loops.h"
#include "support/tests_folder.h"

namespace kw {
namespace {

std::string stored(const std::string& name) {
  auto text = read_file(kw::testing::tests_folder() / "cases/profile" / name);
  EXPECT_TRUE(text.ok()) << name;
  return text ? *text : "";
}

Disassembly code_of(const std::string& name) {
  auto code = parse_disassembly(stored(name));
  EXPECT_TRUE(code.ok()) << name;
  return code ? *code : Disassembly{};
}

std::vector<std::string> names_of(const Disassembly& code) {
  std::vector<std::string> names;
  for (const Function& function : code.functions) names.push_back(function.name);
  return names;
}

InstructionKind x86(std::string mnemonic, std::string operands) {
  Instruction instruction;
  instruction.mnemonic = std::move(mnemonic);
  instruction.operands = std::move(operands);
  return kind_of(instruction, "x86");
}

TEST(Disassembly, OnlyTheKernelsOwnFunctionsAreKept) {
  const Disassembly code = code_of("reduction_x86.txt");
  EXPECT_EQ(code.isa, "x86");
  EXPECT_EQ(names_of(code), (std::vector<std::string>{"kw_kernel._omp_fn.0", "kw_kernel"}));
  EXPECT_EQ(code.functions[0].instructions.front().address, 0x1140u);
  EXPECT_EQ(code.functions[1].instructions.back().mnemonic, "ret");
}

TEST(Disassembly, AnInstructionHasOperandsTargetSymbolAndLine) {
  const Disassembly code = code_of("reduction_x86.txt");
  const auto at = [&](std::uint64_t address) {
    for (const Function& function : code.functions)
      for (const Instruction& instruction : function.instructions)
        if (instruction.address == address) return instruction;
    return Instruction{};
  };
  EXPECT_EQ(at(0x11b5).mnemonic, "vmulps");
  EXPECT_EQ(at(0x11b5).operands, "(%rdx,%rax,1),%ymm4,%ymm0");
  EXPECT_EQ(at(0x11b5).file, "kernel.cpp");
  EXPECT_EQ(at(0x11b5).line, 8);
  EXPECT_EQ(at(0x1206).target, std::optional<std::uint64_t>(0x11b0));
  EXPECT_EQ(at(0x1280).symbol, "tanhf@plt");
  EXPECT_EQ(text_of(at(0x1280)), "call tanhf@plt");
  EXPECT_EQ(text_of(at(0x1206)), "jne kw_kernel._omp_fn.0+0x70");
  EXPECT_EQ(at(0x128d).target, std::optional<std::uint64_t>(0x2000));  // read relative to the code
  EXPECT_EQ(at(0x128d).operands, "0xd6a(%rip),%xmm1,%xmm0");
  EXPECT_EQ(at(0x1278).file, "cmath");
}

TEST(Disassembly, ConstantsAreReadWithTheirAddress) {
  const auto data = parse_data_sections(stored("reduction_x86_data.txt"));
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(data[0].name, ".rodata");
  EXPECT_EQ(data[0].address, 0x2000u);
  EXPECT_EQ(data[0].bytes, std::string("\0\0\0\x3f\0\0\x80\x3e", 8));
  EXPECT_EQ(data[1].bytes.size(), 8u);
}

TEST(Disassembly, OperandsArePartedOutsideBrackets) {
  EXPECT_EQ(split_operands("(%rdx,%rax,1),%ymm4,%ymm0"), (std::vector<std::string>{"(%rdx,%rax,1)", "%ymm4", "%ymm0"}));
  EXPECT_EQ(split_operands("q1, q3, [x9, #-16]"), (std::vector<std::string>{"q1", "q3", "[x9, #-16]"}));
  EXPECT_TRUE(split_operands("").empty());
}

TEST(InstructionKinds, ArithmeticHasAWidthAndMovesHaveNone) {
  EXPECT_EQ(x86("vfmadd231ps", "%ymm2,%ymm13,%ymm1").vector_bits, 256);
  EXPECT_EQ(x86("vaddps", "(%rax),%zmm0,%zmm1").vector_bits, 512);
  EXPECT_EQ(x86("mulpd", "%xmm1,%xmm2").vector_bits, 128);
  EXPECT_EQ(x86("vpaddd", "%ymm2,%ymm13,%ymm1").vector_bits, 256);
  EXPECT_FALSE(x86("vpaddd", "%ymm2,%ymm13,%ymm1").floating);
  EXPECT_TRUE(x86("vaddss", "%xmm0,%xmm2,%xmm2").arithmetic);
  EXPECT_EQ(x86("vaddss", "%xmm0,%xmm2,%xmm2").vector_bits, 0);
  EXPECT_EQ(x86("vcvtdq2ps", "%ymm0,%ymm0").vector_bits, 256);
  EXPECT_EQ(x86("vcvtsi2ss", "%eax,%xmm0,%xmm0").vector_bits, 0);
  EXPECT_FALSE(x86("vmovups", "(%rax),%ymm0").arithmetic);
  EXPECT_FALSE(x86("vxorps", "%xmm2,%xmm2,%xmm2").arithmetic);
  EXPECT_FALSE(x86("add", "$0x20,%rax").arithmetic);
  EXPECT_TRUE(x86("vdivps", "%ymm1,%ymm0,%ymm0").divides);
  EXPECT_TRUE(x86("idiv", "%ebx").divides);
}

TEST(InstructionKinds, MemoryIsReadOrWrittenAsTheOperandsOrderSays) {
  const auto load = x86("vmovups", "(%rax,%rcx,4),%ymm0");
  EXPECT_TRUE(load.loads && !load.stores);
  const auto store = x86("vmovups", "%ymm0,(%rax)");
  EXPECT_TRUE(store.stores && !store.loads);
  const auto both = x86("addl", "$0x1,(%rax)");
  EXPECT_TRUE(both.stores && both.loads);
  const auto compared = x86("cmpl", "$0x1,(%rax)");
  EXPECT_TRUE(compared.loads && !compared.stores);
  EXPECT_FALSE(x86("lea", "(%rax,%rcx,4),%rdx").loads);
  EXPECT_TRUE(x86("vmovntps", "%ymm0,(%rax)").streams);
  EXPECT_TRUE(x86("prefetcht0", "0x200(%rax)").prefetches);
  EXPECT_TRUE(x86("vgatherdps", "%ymm2,(%rax,%ymm1,4),%ymm0").gathers);
  EXPECT_TRUE(x86("vmovaps", "%ymm0,0x20(%rsp)").stack_slot);
  EXPECT_FALSE(x86("vmovaps", "%ymm0,0x20(%rsp,%rax,4)").stack_slot);  // an array
  EXPECT_TRUE(x86("vmovss", "0xd77(%rip),%xmm1").constant);
  EXPECT_TRUE(x86("data16 cs nopw", "0x0(%rax,%rax,1)").padding);
  EXPECT_TRUE(x86("xchg", "%ax,%ax").padding);
}

TEST(InstructionKinds, FunctionsOfLibmAreKnownInAllTheirForms) {
  for (const char* name : {"expf", "exp", "tanhf@plt", "__expf_finite", "_ZGVdN8v_expf", "powl"})
    EXPECT_TRUE(is_libm(name)) << name;
  for (const char* name : {"memcpy", "GOMP_parallel@plt", "expected", "omp_get_thread_num", ""})
    EXPECT_FALSE(is_libm(name)) << name;
}

TEST(Loops, ABlockThatJumpsBackFromBehindTheReturnIsNoLoop) {
  const Disassembly code = code_of("reduction_x86.txt");
  const auto loops = natural_loops(code.functions[0], "x86");
  ASSERT_EQ(loops.size(), 2u);  // rows and columns; not the share-out of rows at 0x1228
  EXPECT_EQ(loops[0].depth + loops[1].depth, 3);
  EXPECT_EQ(std::count_if(loops.begin(), loops.end(), [](const FlowLoop& loop) { return loop.innermost; }), 1);
}

TEST(Loops, TheHeaviestStandsFirstWithWhatItDoes) {
  const auto loops = innermost_loops(code_of("reduction_x86.txt"));
  ASSERT_EQ(loops.size(), 2u);
  const Loop& sum = loops[0];
  EXPECT_EQ(sum.function, "kw_kernel._omp_fn.0");
  EXPECT_EQ(sum.line, 8);
  EXPECT_EQ(sum.depth, 2);
  EXPECT_EQ(sum.weight, 1);
  EXPECT_EQ(sum.counts.vector_ops, (std::map<int, int>{{256, 1}}));
  EXPECT_EQ(sum.counts.scalar_float_ops, 8);
  EXPECT_EQ(sum.counts.loads, 2);
  EXPECT_EQ(sum.counts.stores, 0);
  EXPECT_EQ(sum.chain.operations, 8);  // one sum, element by element
  EXPECT_EQ(sum.chain.cycles, 32);
  EXPECT_EQ(sum.chain.accumulators, 1);
  EXPECT_TRUE(loops[1].hot);
  EXPECT_EQ(loops[1].line, 11);  // the kernel's own line, not that of a header
  EXPECT_EQ(loops[1].counts.libm_calls, std::vector<std::string>{"tanhf"});
  EXPECT_EQ(loops[1].counts.stores, 1);
  EXPECT_EQ(loops[1].counts.loads, 1);  // constants are no data
}

TEST(Loops, SpillsAreFixedPlacesOfTheStack) {
  const auto loops = innermost_loops(code_of("spills_x86.txt"));
  ASSERT_EQ(loops.size(), 1u);  // it is entered in its middle
  EXPECT_EQ(loops[0].counts.vector_ops, (std::map<int, int>{{256, 18}}));
  EXPECT_EQ(loops[0].counts.spill_stores, 7);
  EXPECT_EQ(loops[0].counts.spill_loads, 7);
  EXPECT_EQ(loops[0].counts.loads, 9);
  EXPECT_GE(loops[0].chain.accumulators, 11);
}

TEST(Loops, WhatOnlyPreparationReachesIsNotHot) {
  const Disassembly code = code_of("gather_x86.txt");
  EXPECT_EQ(names_of(code), (std::vector<std::string>{"kw_kernel", "kw_prepare"}));
  for (const Loop& loop : innermost_loops(code)) {
    EXPECT_EQ(loop.function, "kw_kernel");
    EXPECT_EQ(loop.counts.gathers, 4);
    EXPECT_EQ(loop.counts.divisions, 1);
  }
}

TEST(Loops, ArmIsReadToo) {
  const Disassembly code = code_of("reduction_arm.txt");
  EXPECT_EQ(code.isa, "arm");
  const auto loops = innermost_loops(code);
  ASSERT_EQ(loops.size(), 4u);  // two vector loops, and the remainder of each
  EXPECT_EQ(std::count_if(loops.begin(), loops.end(), [](const Loop& loop) { return loop.is_remainder; }), 2);
  EXPECT_EQ(std::count_if(loops.begin(), loops.end(), [](const Loop& loop) { return loop.hot; }), 2);
  EXPECT_EQ(loops[0].counts.divisions, 2);
  EXPECT_EQ(loops[0].chain.operations, 8);
  EXPECT_EQ(loops[1].counts.vector_ops, (std::map<int, int>{{128, 2}}));
  EXPECT_EQ(loops[1].counts.stores, 1);
  EXPECT_EQ(loops[1].counts.loads, 2);
}

TEST(Loops, ASumThatIsKeptInMemoryIsAChain) {
  std::vector<Instruction> body(4);
  body[0] = {0, "vmovss", "(%rdx,%rax,4),%xmm0", "", {}, "", 0};
  body[1] = {4, "vaddss", "(%rdi),%xmm0,%xmm0", "", {}, "", 0};
  body[2] = {8, "vmovss", "%xmm0,(%rdi)", "", {}, "", 0};
  body[3] = {12, "inc", "%rax", "", {}, "", 0};
  EXPECT_TRUE(carried_chain(body, "x86").through_memory);
  EXPECT_EQ(carried_chain(body, "x86").operations, 1);
  EXPECT_EQ(carried_chain(body, "x86").cycles, 9);
  body[3].operands = "%rdi";  // another place in every iteration
  EXPECT_EQ(carried_chain(body, "x86").accumulators, 0);
}

TEST(Loops, FunctionsAreNamedAsInTheSource) {
  EXPECT_EQ(source_name("kw_kernel._omp_fn.0"), "kw_kernel");
  EXPECT_EQ(source_name("row_sum(float const*, long) [clone .constprop.0]"), "row_sum");
  EXPECT_EQ(source_name("kw_kernel"), "kw_kernel");
}

// Objects of this machine's compiler.
class CompiledCode : public ::testing::Test {
 protected:
  Result<fs::path> compile(const std::string& source, const std::string& name) {
    const fs::path file = folder_->path() / (name + ".cpp"), object = folder_->path() / (name + ".so");
    KW_CHECK(write_file_atomically(file, source));
    KW_TRY(const CommandOutcome outcome,
           run_command(
               {{"g++", "-O3", "-g1", "-fPIC", "-shared", "-fvisibility=hidden", file.string(), "-o", object.string()}, {}, ""}));
    if (!outcome.succeeded()) return internal_error(outcome.err);
    return object;
  }
  std::string hash_of(const std::string& source, const std::string& name) {
    const auto object = compile(source, name);
    EXPECT_TRUE(object.ok());
    const auto code = object ? disassemble(*object) : Result<Disassembly>(object.error());
    EXPECT_TRUE(code.ok());
    return code ? assembly_hash(*code) : "";
  }
  Result<TempFolder> folder_ = TempFolder::make("kw-profile-test");
};

constexpr const char* kScale = R"(#define EXPORT extern "C" __attribute__((visibility("default")))
static float __attribute__((noinline)) last(const float* x, long n) { return x[n - 1] * 3.5f; }
EXPORT void kw_kernel(const float* __restrict x, float* __restrict out, long n) {
  for (long i = 0; i < n; ++i) out[i] = x[i] * 2.5f + 1.25f;
  out[0] = last(x, n);
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto place = text.find(what); place != std::string::npos; place = text.find(what, place + with.size()))
    text.replace(place, what.size(), with);
  return text;
}

TEST_F(CompiledCode, SameCodeHasTheSameHashAndAnotherConstantHasNot) {
  const std::string first = hash_of(kScale, "first");
  EXPECT_EQ(first.size(), 64u);
  // Other names, other constants before them in the data, another place.
  const std::string renamed = "// a comment\n" + replaced(replaced(kScale, "last(", "another_name("), "out", "y");
  EXPECT_EQ(hash_of(renamed, "renamed"), first);
  EXPECT_NE(hash_of(replaced(kScale, "2.5f", "2.25f"), "constant"), first);
  EXPECT_NE(hash_of(replaced(kScale, "n - 1", "n - 2"), "immediate"), first);
}

TEST_F(CompiledCode, TheTextForAlignmentHasTheHotLoopsLines) {
  const auto object = compile(kScale, "scale");
  ASSERT_TRUE(object.ok());
  const auto text = read_code(*object);
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(text->isa == "x86" || text->isa == "arm");
  EXPECT_EQ(std::count(text->assembly_lines.begin(), text->assembly_lines.end(), "kw_kernel:"), 1);
  EXPECT_FALSE(text->hot_loop_lines.empty());
  EXPECT_LT(text->hot_loop_lines.size(), text->assembly_lines.size());
  for (const std::string& line : text->hot_loop_lines)
    EXPECT_NE(std::find(text->assembly_lines.begin(), text->assembly_lines.end(), line), text->assembly_lines.end()) << line;
  const auto code = disassemble(*object);
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(innermost_loops(*code).front().line, 4);
}

}  // namespace
}  // namespace kw
