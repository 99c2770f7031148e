// Any bytes through parse_json and every record's reader: a value or an Error, never an exception or a crash. A record that
// was read can be written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "record/evaluation.h"
#include "record/machine.h"
#include "record/problem.h"
#include "record/tensor.h"
#include "record/timing.h"
#include "record/verdict.h"

namespace {

template <typename Record>
void try_record(const kw::Json& json) {
  const auto read = [](const kw::Json& from) { return kw::read_fields("fuzz", [&] { return from.get<Record>(); }); };
  const auto record = read(json);
  if (!record) return;
  const kw::Json written = *record;
  if (!read(written)) std::abort();
}

template <typename... Records>
void try_records(const kw::Json& json) {
  (try_record<Records>(json), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = kw::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!json) return 0;
  try_records<kw::TensorSpec, kw::ProblemDescription, kw::FmaPeak, kw::BandwidthPoint, kw::Machine, kw::Interval, kw::Comparison,
              kw::TimingRecord, kw::Diagnosis, kw::OutputError, kw::CheckResult, kw::VerdictRecord, kw::EvaluationKey,
              kw::Evaluation>(*json);
  return 0;
}
