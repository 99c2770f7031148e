// A kernel as a coder hands it over: the source, the knobs that may be turned without touching it, and what it claims to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/evaluation.h"

namespace kw {

struct Knob {
  std::string name;                  // a macro: KW_TILE_M
  std::int64_t standard = 0;         // its default in the source
  std::vector<std::int64_t> values;  // that may be tried, in order; the default is among them
};

struct Kernel {
  std::string source;
  std::string dsl = "cpp";
  std::vector<Knob> knobs;
  std::vector<std::string> constraints;  // over knobs: "KW_MR * KW_NR <= 96"; a point that breaks one is never compiled
  std::vector<std::string> claims;       // strategy ids, sorted
  std::string author = "playbook";
};

// Of a file with a kernel in this DSL: ".cpp", ".cu", ".py".
std::string_view kernel_extension(std::string_view dsl);

void to_json(Json& json, const Knob& knob);
void from_json(const Json& json, Knob& knob);
void to_json(Json& json, const Kernel& kernel);
void from_json(const Json& json, Kernel& kernel);

}  // namespace kw
