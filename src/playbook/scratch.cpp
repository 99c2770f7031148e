#include "playbook/scratch.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/reach.h"

namespace kw {

std::vector<ScratchSlot> place_scratch(Plan& plan, const Graph& graph) {
  std::map<ValueId, std::size_t> last_read;
  const auto stored = [&](ValueId id) { return plan.buffers.contains(id); };
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (const ValueId root : plan.stages[s].roots) {
      last_read[root] = std::max(last_read[root], s);
      visit_reached(graph, root, stored, [&](const Reached& at) {
        if (stored(at.value)) last_read[at.value] = s;
      });
    }
  std::vector<ScratchSlot> slots;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (const ValueId root : plan.stages[s].roots) {
      Buffer& buffer = plan.buffers.at(root);
      if (buffer.output) continue;
      const auto fits = [&](const ScratchSlot& slot) { return slot.dtype == buffer.dtype && slot.busy_until < s; };
      auto slot = std::ranges::find_if(slots, fits);
      if (slot == slots.end()) slot = slots.insert(slots.end(), {fmt::format("scratch{}", slots.size()), buffer.dtype, 1, 0});
      slot->count = std::max(slot->count, numel(buffer.shape));
      slot->busy_until = last_read[root];
      buffer.name = slot->name;
    }
  return slots;
}

}  // namespace kw
