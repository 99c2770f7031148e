// What a model's part in a run came to: tokens, time and cost by role, faults by name, kernels by outcome. Counted from the
// archived exchanges and individuals alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/exchange.h"
#include "record/run.h"

namespace kw {

struct RoleUse {
  std::int64_t exchanges = 0, input_tokens = 0, output_tokens = 0;
  double seconds = 0, usd = 0;
};

struct ModelUse {
  std::string model;
  std::map<std::string, RoleUse> roles;  // "debugger/patch" counts as debugger
  RoleUse all;
  std::map<std::string, int> faults;
  int kernels = 0, passed = 0;        // individuals that it wrote or was to write, without those that only knobs were turned of
  int repaired = 0;                   // of the passed ones: through the debugger
  std::vector<std::string> invented;  // ids of strategies
};

ModelUse model_use(const std::string& model, const std::vector<Exchange>& exchanges, const std::vector<Individual>& individuals);

Json json_of(const ModelUse& use);
// Lines for a summary; empty where no model took part.
std::string text_of(const ModelUse& use);

// One exchange for people: messages and answer in full.
std::string exchange_text(const Exchange& exchange, std::size_t number);
// A line a exchange.
std::string exchange_list(const std::vector<Exchange>& exchanges);

}  // namespace kw
