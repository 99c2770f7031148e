#include "strategy/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "correctness/strategy/few_strategies.h"
#include "strategy/alignment.h"
#include "strategy/code_lines.h"
#include "strategy/condition.h"
#include "support/tests_folder.h"

namespace kw {
namespace {

const fs::path kTests = kw::testing::tests_folder();

const StrategyPool& own_pool() {
  static const auto pool = StrategyPool::load_own();
  EXPECT_TRUE(pool.ok()) << (pool.ok() ? "" : pool.error().message);
  return *pool;
}

TEST(StrategyPool, HasWhatThePlaybookRealises) {
  for (const char* id :
       {"parallel_outer",        "balanced_schedule", "explicit_vectors",    "vector_maths",       "unroll_inner",
        "stream_stores",         "fuse_chain",        "reciprocal_multiply", "prefetch_ahead",     "fuse_row_passes",
        "multiple_accumulators", "blocked_sums",      "online_softmax",      "masked_tails",       "keep_row_values",
        "tile_columns",          "split_reduction",   "vector_scan",         "split_scan",         "scan_columns",
        "window_interior",       "separable_window",  "vector_argument",     "register_tile",      "cache_tile_depth",
        "cache_tile_rows",       "pack_left",         "pack_right",          "prepack_weights",    "fuse_epilogue",
        "fuse_prologue",         "parallel_panels",   "split_depth",         "skip_zero_triangle", "diagonal_as_scale",
        "wide_column_tiles",     "dot_rows",          "prefetch_next_row",   "prefetch_gather",    "convolution_tile",
        "skip_idle_lanes"})
    EXPECT_TRUE(own_pool().find(id)) << id;
  for (const char* id : {"collapse_loops", "first_touch", "huge_tiles_l2", "loop_interchange", "transpose_blocks", "align_rows",
                         "software_pipeline", "winograd", "im2col_pack", "fft_convolution", "pairwise_tree", "kahan_sum",
                         "table_lookup", "half_storage", "thread_local_scratch", "nested_tiles"})
    EXPECT_TRUE(own_pool().find(id)) << id;
  EXPECT_GE(own_pool().all().size(), 50U);
  EXPECT_FALSE(own_pool().find("parallel"));
  EXPECT_FALSE(own_pool().find(""));
}

TEST(StrategyPool, CoversEveryLeverZoneAndKeepsEachLeverInItsFile) {
  std::set<std::string> used_levers, used_zones;
  for (const Strategy& strategy : own_pool().all()) {
    used_levers.insert(strategy.target + " " + strategy.lever);
    used_zones.insert(strategy.zones.begin(), strategy.zones.end());
  }
  for (const char* target : {"cpu", "gpu"})
    for (const std::string_view lever : levers(target))
      EXPECT_TRUE(used_levers.contains(target + (" " + std::string(lever)))) << target << ": " << lever;
  EXPECT_EQ(used_zones.size(), zones().size());
  const fs::path folder = *install_root() / "knowledge" / "strategies";
  for (const char* target : {"cpu", "gpu", "opencl"})
    for (const auto& entry : entries_of(target == std::string("cpu") ? folder : folder / target)) {
      if (entry.is_directory()) continue;
      const Json json = *parse_json(*read_file(entry.path()), entry.path().string());
      for (const Json& strategy : json) {
        EXPECT_EQ(strategy["lever"], entry.path().stem().string()) << strategy["id"];
        EXPECT_EQ(strategy.value("target", "cpu"), target) << strategy["id"];
      }
    }
}

TEST(StrategyPool, RecordsSurviveTheirJson) {
  for (const Strategy& strategy : own_pool().all()) {
    const Json json = strategy;
    EXPECT_EQ(Json(json.get<Strategy>()), json) << strategy.id;
  }
}

// The classes are written down twice, because a record may not include the room that finds them.
TEST(WorkloadClasses, AreThoseThatAreFound) {
  const std::string text = *read_file(kTests.parent_path() / "src" / "problem" / "workload.cpp");
  const std::regex row("\\{\"([a-z ]+)\",\\s*\\{\"");
  std::set<std::string> found{"pointwise"};
  for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) found.insert((*match)[1]);
  const auto known = workload_classes();
  EXPECT_EQ(found, std::set<std::string>(known.begin(), known.end()));
}

TEST(Condition, HoldsOverFeatures) {
  const Features features{{"row_elements", 64}, {"threads", 2}, {"output_bytes", 5e6}, {"l3_bytes", 8e6}};
  EXPECT_TRUE(conditions_hold({}, features));
  EXPECT_TRUE(conditions_hold({"row_elements >= 64", "threads > 1", "output_bytes > 0.5 * l3_bytes"}, features));
  EXPECT_FALSE(conditions_hold({"row_elements >= 64", "threads > 2"}, features)) << "all must hold";
  EXPECT_FALSE(conditions_hold({"has_scan"}, features)) << "what is not there is 0";
  EXPECT_TRUE(conditions_hold({"!has_scan"}, features));
  EXPECT_FALSE(conditions_hold({"row_elements / column_depth > 1"}, features)) << "no value, no truth";
  EXPECT_TRUE(check_condition("row_elements * 4 <= l2_bytes || has_product").ok());
}

TEST(StrategyPool, AppliesByConditionClassNeedAndOrderOfZone) {
  const auto pool = *StrategyPool::from(testing::few_strategies());
  const Features features{{"threads", 2}, {"row_elements", 100}};
  using Ids = std::vector<std::string>;
  EXPECT_EQ(pool.applicable(features, "compute", "matmul", pool.ids()), (Ids{"tile", "vectors", "stream", "threads", "wide"}));
  EXPECT_EQ(pool.applicable(features, "memory", "matmul", pool.ids()), (Ids{"vectors", "stream", "threads", "wide", "tile"}));
  EXPECT_EQ(pool.applicable({}, "memory", "matmul", pool.ids()), (Ids{"vectors", "stream", "wide", "tile"})) << "one thread";
  EXPECT_EQ(pool.applicable(features, "memory", "softmax", pool.ids()), (Ids{"vectors", "stream", "threads", "wide"}));
  EXPECT_EQ(pool.applicable(features, "memory", "softmax + matmul", pool.ids()),
            (Ids{"vectors", "stream", "threads", "wide", "tile"}));
  EXPECT_EQ(pool.applicable(features, "memory", "matmul", {"stream", "threads"}), (Ids{"threads"})) << "stream needs vectors";
  EXPECT_EQ(pool.applicable(features, "memory", "matmul", {}), Ids{});
  EXPECT_TRUE(pool.conflict("tile", "stream") && pool.conflict("stream", "tile"));
  EXPECT_FALSE(pool.conflict("tile", "threads"));
  EXPECT_EQ(main_class("softmax + matmul + loss"), "softmax");
}

// The pool's own conditions, for a few kinds of problems: what must apply and what must not.
TEST(StrategyPool, OwnConditionsPickWhatFits) {
  const auto applies = [&](const Features& features, std::string_view zone, std::string_view name) {
    const auto ids = own_pool().applicable(features, zone, name, own_pool().ids());
    return std::set<std::string>(ids.begin(), ids.end());
  };
  Features machine{{"threads", 2}, {"vector_lanes", 8}, {"l1_bytes", 32768}, {"l2_bytes", 1048576}, {"l3_bytes", 33554432}};
  Features softmax = machine;
  softmax.merge(Features{{"has_rows", 1},
                         {"row_count", 4096},
                         {"row_elements", 4096},
                         {"has_softmax", 1},
                         {"reductions", 2},
                         {"transcendental_ops", 1},
                         {"pointwise_ops", 3},
                         {"input_bytes", 6.7e7},
                         {"output_bytes", 6.7e7},
                         {"total_bytes", 1.3e8},
                         {"stages", 1}});
  const auto rows = applies(softmax, "memory", "softmax");
  for (const char* id : {"parallel_outer", "explicit_vectors", "vector_maths", "fuse_row_passes", "keep_row_values",
                         "stream_stores", "reciprocal_multiply", "multiple_accumulators", "blocked_sums"})
    EXPECT_TRUE(rows.contains(id)) << id;
  for (const char* id : {"register_tile", "vector_scan", "window_interior", "dot_rows", "winograd", "split_depth"})
    EXPECT_FALSE(rows.contains(id)) << id;
  Features product = machine;
  product.merge(Features{{"has_product", 1},
                         {"product_m", 1024},
                         {"product_n", 1024},
                         {"product_k", 1024},
                         {"product_batch", 1},
                         {"flops", 2e9},
                         {"input_bytes", 8e6},
                         {"output_bytes", 4e6},
                         {"total_bytes", 1.2e7},
                         {"stages", 1}});
  const auto tiles = applies(product, "compute", "matmul");
  for (const char* id : {"register_tile", "cache_tile_depth", "cache_tile_rows", "pack_left", "pack_right", "parallel_panels"})
    EXPECT_TRUE(tiles.contains(id)) << id;
  for (const char* id : {"split_depth", "prepack_weights", "fuse_epilogue", "skip_zero_triangle", "diagonal_as_scale", "dot_rows"})
    EXPECT_FALSE(tiles.contains(id)) << id;
  product["has_matvec"] = 1;  // a small one beside it
  const auto both = applies(product, "compute", "matmul");
  EXPECT_TRUE(both.contains("dot_rows"));
  EXPECT_TRUE(both.contains("register_tile"));
  product["is_matvec"] = 1;
  product["product_n"] = 1;
  const auto lines = applies(product, "memory", "matmul");
  EXPECT_TRUE(lines.contains("dot_rows"));
  EXPECT_FALSE(lines.contains("register_tile"));
  EXPECT_FALSE(applies({{"threads", 8}, {"total_bytes", 100}}, "latency", "pointwise").contains("parallel_outer"));
}

TEST(CodeLines, KeepCodeAlone) {
  EXPECT_EQ(code_lines("int a; // b\n\n  \nint /* c\n d */ e;\n"), (std::vector<std::string>{"int a; ", "int   e;"}));
  EXPECT_EQ(code_lines("f(\"a\\\"b\", 'c', '\\'', 1'0);"), (std::vector<std::string>{"f(\"\", '', '', 1'0);"}));
  EXPECT_EQ(code_lines("a /* never closed"), (std::vector<std::string>{"a  "}));
  EXPECT_EQ(code_lines("\"never closed\nb"), (std::vector<std::string>{"\"\"", "b"}));
  EXPECT_EQ(code_lines("#if 0\n#endif\n#endif\n#else\nx"), (std::vector<std::string>{"x"}));
  EXPECT_TRUE(code_lines("").empty());
}

TEST(Alignment, FollowsTheEvidence) {
  const fs::path file = kTests / "correctness" / "strategy" / "alignment_cases.json";
  const Json cases = *parse_json(*read_file(file), file.string());
  EXPECT_GE(cases.size(), 15U);
  for (const Json& row : cases) {
    SCOPED_TRACE(row["name"].get<std::string>());
    CodeView code;
    for (const Json& line : row["source"]) code.source += line.get<std::string>() + "\n";
    const auto lines = [&](const char* key) { return row.value(key, std::vector<std::string>()); };
    code.assembly_lines = lines("assembly");
    code.hot_loop_lines = lines("hot_loop");
    code.isa = row.value("isa", std::string("x86"));
    code.has_assembly = row.value("has_assembly", true);
    code.target = row.value("target", std::string("cpu"));
    std::string ptx;
    for (const std::string& line : lines("ptx")) ptx += line + "\n";
    code.ptx_lines = ptx_code_lines(ptx);
    std::map<std::string, std::string> found, evidence;
    for (const AlignedStrategy& aligned : align(own_pool(), code, lines("claims"), lines("considered"))) {
      EXPECT_TRUE(found.emplace(aligned.id, name_of(aligned.presence)).second) << aligned.id << " twice";
      EXPECT_FALSE(aligned.evidence.empty()) << aligned.id;
      evidence[aligned.id] = aligned.evidence;
    }
    EXPECT_EQ(found, row["expect"].get<decltype(found)>());
    for (const auto& [id, text] : row.value("evidence", evidence)) EXPECT_EQ(evidence[id], text);
  }
}

TEST(Alignment, LongLinesAreNoDanger) {
  CodeView code{std::string(2000000, 'a') + " kw_vec", {std::string(500000, 'v') + " vmovntps"}, {}, "x86", true};
  CodeView gpu{std::string(2000000, 'a'), {}, {}, "", false, "gpu", {std::string(500000, 'v') + " ld.global.v4"}};
  for (const AlignedStrategy& aligned : align(own_pool(), gpu, own_pool().ids("gpu"), {}))
    EXPECT_NE(aligned.presence, Presence::added) << aligned.id;
  for (const AlignedStrategy& aligned : align(own_pool(), code, own_pool().ids(), {}))
    EXPECT_NE(aligned.presence, Presence::added) << aligned.id;
}

}  // namespace
}  // namespace kw
