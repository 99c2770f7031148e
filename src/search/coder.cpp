#include "search/coder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "playbook/gpu_playbook.h"
#include "playbook/opencl_playbook.h"
#include "playbook/playbook.h"

namespace kw {
namespace {

int vector_bytes_of(const Machine& machine) {
  if (machine.widest_isa.starts_with("avx512")) return 64;
  if (machine.widest_isa.starts_with("avx")) return 32;
  return 16;
}

template <typename Book>
class PlaybookCoder : public Coder {
 public:
  explicit PlaybookCoder(Book playbook) : playbook_(std::move(playbook)) {}
  [[nodiscard]] const Features& features() const override { return playbook_.features(); }
  [[nodiscard]] Result<Kernel> write(const std::vector<std::string>& strategies) const override {
    return playbook_.write(strategies);
  }

 protected:
  Book playbook_;
};

class CppCoder : public PlaybookCoder<Playbook> {
 public:
  using PlaybookCoder::PlaybookCoder;
  [[nodiscard]] const Split* split() const override { return playbook_.split().places.empty() ? nullptr : &playbook_.split(); }
  [[nodiscard]] Result<Kernel> assemble(const std::vector<PartChoice>& choices) const override {
    return playbook_.assemble(choices);
  }
};

class GpuCoder : public PlaybookCoder<GpuPlaybook> {
 public:
  GpuCoder(GpuPlaybook playbook, GpuFacts facts, std::string dsl)
      : PlaybookCoder(std::move(playbook)), facts_(std::move(facts)), dsl_(std::move(dsl)) {}
  [[nodiscard]] Result<Kernel> write_for(const ProblemDescription& other,
                                         const std::vector<std::string>& strategies) const override {
    KW_TRY(const GpuPlaybook playbook, GpuPlaybook::read(other, facts_, dsl_));
    return playbook.write(strategies);
  }

 private:
  GpuFacts facts_;
  std::string dsl_;
};

MachineFacts facts_of(const Machine& machine, int threads) {
  return {threads, machine.l1d_bytes, machine.l2_bytes, machine.l3_bytes, vector_bytes_of(machine)};
}

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

Result<Kernel> Coder::assemble(const std::vector<PartChoice>&) const { return internal_error("this coder takes no problem apart"); }
Result<Kernel> Coder::write_for(const ProblemDescription& other, const std::vector<std::string>&) const {
  return bad_input(fmt::format("a kernel for {} is not written for other shapes", other.name));
}

std::unique_ptr<Coder> no_coder() { return std::make_unique<NoCoder>(); }

Result<std::unique_ptr<Coder>> playbook_coder(const ProblemDescription& problem, const Machine& machine, int threads) {
  auto playbook = Playbook::read(problem, facts_of(machine, threads));
  if (!playbook) return about(problem, std::move(playbook.error()));
  return std::unique_ptr<Coder>(std::make_unique<CppCoder>(std::move(*playbook)));
}

Result<std::unique_ptr<Coder>> opencl_playbook_coder(const ProblemDescription& problem, const Machine& machine, int threads) {
  auto playbook = OpenClPlaybook::read(problem, facts_of(machine, threads));
  if (!playbook) return about(problem, std::move(playbook.error()));
  return std::unique_ptr<Coder>(std::make_unique<PlaybookCoder<OpenClPlaybook>>(std::move(*playbook)));
}

Result<std::unique_ptr<Coder>> cpu_playbook_coder(const std::string& dsl, const ProblemDescription& problem, const Machine& machine,
                                                  int threads) {
  return dsl == "opencl" ? opencl_playbook_coder(problem, machine, threads) : playbook_coder(problem, machine, threads);
}

Result<std::unique_ptr<Coder>> gpu_playbook_coder(const ProblemDescription& problem, const vgpu::GpuSheet& sheet,
                                                  const std::string& precision, const std::string& dsl) {
  GpuFacts facts = facts_of(sheet, precision);
  auto playbook = GpuPlaybook::read(problem, facts, dsl);
  if (!playbook) return about(problem, std::move(playbook.error()));
  return std::unique_ptr<Coder>(std::make_unique<GpuCoder>(std::move(*playbook), std::move(facts), dsl));
}

std::vector<std::string> playbook_dsls() { return {"cpp", "cuda-c", "cute", "triton", "tilelang", "opencl"}; }

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
