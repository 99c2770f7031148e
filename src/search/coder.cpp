#include "search/coder.h"

#include <algorithm>
#include <set>

#include "playbook/gpu_playbook.h"
#include "playbook/playbook.h"

namespace kw {
namespace {

int vector_bytes_of(const Machine& machine) {
  if (machine.widest_isa.starts_with("avx512")) return 64;
  if (machine.widest_isa.starts_with("avx")) return 32;
  return 16;
}

class PlaybookCoder : public Coder {
 public:
  explicit PlaybookCoder(Playbook playbook) : playbook_(std::move(playbook)) {}
  [[nodiscard]] const Features& features() const override { return playbook_.features(); }
  [[nodiscard]] Result<Kernel> write(const std::vector<std::string>& strategies) const override {
    return playbook_.write(strategies);
  }

 private:
  Playbook playbook_;
};

class GpuPlaybookCoder : public Coder {
 public:
  explicit GpuPlaybookCoder(GpuPlaybook playbook) : playbook_(std::move(playbook)) {}
  [[nodiscard]] const Features& features() const override { return playbook_.features(); }
  [[nodiscard]] Result<Kernel> write(const std::vector<std::string>& strategies) const override {
    return playbook_.write(strategies);
  }

 private:
  GpuPlaybook playbook_;
};

GpuFacts facts_of(const vgpu::GpuSheet& sheet, const std::string& precision) {
  GpuFacts facts;
  facts.compute_capability = sheet.cc_major * 10 + sheet.cc_minor;
  facts.sms = sheet.sm_count;
  facts.max_threads_per_sm = sheet.per_sm.threads;
  facts.shared_bytes_per_block = static_cast<int>(sheet.per_sm.shared_bytes_per_block_optin);
  facts.shared_bytes_per_sm = static_cast<int>(sheet.per_sm.shared_bytes);
  facts.registers_per_sm = sheet.per_sm.registers;
  facts.memory_bytes_per_second = sheet.memory_gb_per_s * 1e9;
  facts.fp32_flops = sheet.peak_tflops.at("fp32") * 1e12;
  facts.precision = precision;
  return facts;
}

Error about(const ProblemDescription& problem, Error error) {
  error.message = problem.name + ": " + error.message;
  return error;
}

class NoCoder : public Coder {
 public:
  [[nodiscard]] const Features& features() const override { return features_; }
  [[nodiscard]] Result<Kernel> write(const std::vector<std::string>&) const override {
    return bad_input("the playbook does not know this problem", "use a model");
  }

 private:
  Features features_;
};

}  // namespace

std::unique_ptr<Coder> no_coder() { return std::make_unique<NoCoder>(); }

Result<std::unique_ptr<Coder>> playbook_coder(const ProblemDescription& problem, const Machine& machine, int threads) {
  const MachineFacts facts{threads, machine.l1d_bytes, machine.l2_bytes, machine.l3_bytes, vector_bytes_of(machine)};
  auto playbook = Playbook::read(problem, facts);
  if (!playbook) return about(problem, std::move(playbook.error()));
  return std::unique_ptr<Coder>(std::make_unique<PlaybookCoder>(std::move(*playbook)));
}

Result<std::unique_ptr<Coder>> gpu_playbook_coder(const ProblemDescription& problem, const vgpu::GpuSheet& sheet,
                                                  const std::string& precision, const std::string& dsl) {
  auto playbook = GpuPlaybook::read(problem, facts_of(sheet, precision), dsl);
  if (!playbook) return about(problem, std::move(playbook.error()));
  return std::unique_ptr<Coder>(std::make_unique<GpuPlaybookCoder>(std::move(*playbook)));
}

std::vector<std::string> usable_by(const Coder& coder, const StrategyPool& pool, const std::vector<std::string>& ids) {
  std::set<std::string> usable;
  const auto note_claims = [&](const std::vector<std::string>& asked) {
    const auto kernel = coder.write(asked);
    if (kernel) usable.insert(kernel->claims.begin(), kernel->claims.end());
  };
  note_claims(ids);
  for (const std::string& id : ids) {
    const Strategy* strategy = pool.find(id);
    if (strategy == nullptr || usable.contains(id)) continue;
    // Alone with what it needs; then with everything that it does not conflict with.
    std::vector<std::string> asked{id};
    asked.insert(asked.end(), strategy->needs.begin(), strategy->needs.end());
    note_claims(asked);
    if (usable.contains(id)) continue;
    asked = ids;
    std::erase_if(asked, [&](const std::string& other) { return pool.conflict(id, other); });
    note_claims(asked);
  }
  std::vector<std::string> found;
  for (const std::string& id : ids)
    if (usable.contains(id)) found.push_back(id);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace kw
