#include "playbook/scratch.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "playbook/overwrite.h"
#include "playbook/reach.h"

namespace kw {
namespace {

class Placing {
 public:
  Placing(Plan& plan, const Graph& graph, const std::set<std::string>& taken) : plan_(plan), graph_(graph), taken_(taken) {
    const auto stored = [&](ValueId id) { return plan_.buffers.contains(id); };
    for (std::size_t s = 0; s < plan_.stages.size(); ++s)
      for (const ValueId root : plan_.stages[s].roots) {
        made_in_[root] = s;
        last_read_[root] = std::max(last_read_[root], s);
        visit_reached(graph_, root, stored, [&](const Reached& at) {
          if (stored(at.value)) last_read_[at.value] = s;
        });
      }
  }

  // What a stage reads for the last time is where its result will be, where that may be.
  void find_heirs() {
    std::set<ValueId> inherited;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const Stage& stage = plan_.stages[s];
      const ValueId root = stage.roots[0];
      for (const auto& [value, made] : made_in_)
        if (made < s && last_read_.at(value) == s && !plan_.buffers.at(value).output && !inherited.contains(root) &&
            may_write_over(plan_, graph_, stage, root, value)) {
          heir_[value] = root;
          inherited.insert(root);
          plan_.written_over.insert(root);
        }
    }
  }

  std::vector<ScratchSlot> slots() {
    std::vector<ScratchSlot> slots;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s)
      for (const ValueId root : plan_.stages[s].roots) {
        Buffer& buffer = plan_.buffers.at(root);
        if (buffer.output || !buffer.name.empty()) continue;
        std::vector<ValueId> line{root};  // all that will be in this memory, one after the other
        while (heir_.contains(line.back())) line.push_back(heir_.at(line.back()));
        const ValueId last = line.back();
        std::string name = plan_.buffers.at(last).name;
        if (!plan_.buffers.at(last).output) {
          const auto fits = [&](const ScratchSlot& slot) { return slot.dtype == buffer.dtype && slot.busy_until < s; };
          auto slot = std::ranges::find_if(slots, fits);
          if (slot == slots.end()) slot = slots.insert(slots.end(), {free_name(), buffer.dtype, 1, 0});
          slot->count = std::max(slot->count, numel(buffer.shape));
          slot->busy_until = last_read_.at(last);
          name = slot->name;
        }
        for (const ValueId value : line)
          if (!plan_.buffers.at(value).output) plan_.buffers.at(value).name = name;
      }
    return slots;
  }

 private:
  std::string free_name() {
    std::string name;
    do name = fmt::format("scratch{}", number_++);
    while (taken_.contains(name));
    return name;
  }

  Plan& plan_;
  const Graph& graph_;
  const std::set<std::string>& taken_;
  int number_ = 0;
  std::map<ValueId, std::size_t> made_in_;
  std::map<ValueId, std::size_t> last_read_;
  std::map<ValueId, ValueId> heir_;
};

}  // namespace

std::vector<ScratchSlot> place_scratch(Plan& plan, const Graph& graph, bool write_over, const std::set<std::string>& taken) {
  Placing placing(plan, graph, taken);
  if (write_over) placing.find_heirs();
  return placing.slots();
}

}  // namespace kw
