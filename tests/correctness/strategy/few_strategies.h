// A small pool for tests: a need, a conflict, a class, a condition and different zones.
#pragma once

#include <string>
#include <vector>

#include "record/strategy.h"

namespace kw::testing {

inline Strategy strategy(std::string id, std::vector<std::string> zones, double predicts) {
  Strategy made;
  made.id = std::move(id);
  made.name = made.applies = made.why = "for a test";
  made.lever = "algorithm";
  made.zones = std::move(zones);
  made.predicts = predicts;
  return made;
}

inline std::vector<Strategy> few_strategies() {
  Strategy threads = strategy("threads", {"memory", "compute"}, 1.5);
  threads.when = {"threads > 1"};
  Strategy vectors = strategy("vectors", {"memory", "compute"}, 2);
  Strategy stream = strategy("stream", {"memory", "compute"}, 1.8);
  stream.needs = {"vectors"};
  Strategy wide = strategy("wide", {"memory", "compute"}, 1.1);
  wide.needs = {"stream"};
  Strategy tile = strategy("tile", {"compute"}, 3);
  tile.classes = {"matmul"};
  tile.conflicts = {"stream"};
  return {threads, vectors, stream, wide, tile};
}

}  // namespace kw::testing
