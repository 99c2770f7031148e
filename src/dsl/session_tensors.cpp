#include "dsl/session_tensors.h"

#include <cstring>

#include <fmt/format.h>

namespace kw {
namespace {

Status copy_tensor(Session& session, std::size_t argument, int slot, const TensorSpec& spec, const SafetensorsFile& file) {
  KW_TRY(const NamedTensor tensor, file.at(spec.name));
  const auto to = session.contents(argument, slot);
  if (tensor.dtype != spec.dtype || tensor.bytes.size() != to.size())
    return internal_error(fmt::format("{}: '{}' has {} bytes of {} where the problem has {} of {}", file.path().string(), spec.name,
                                      tensor.bytes.size(), torch_name(tensor.dtype), to.size(), torch_name(spec.dtype)),
                          "remove the folder of that file: it is only a cache");
  if (!tensor.bytes.empty()) std::memcpy(to.data(), tensor.bytes.data(), to.size());
  return {};
}

Status store_scalar(Session& session, std::size_t argument, int slot, const TensorSpec& spec, const TensorSet& set) {
  const auto found = set.scalars.find(spec.name);
  const double value = found == set.scalars.end() ? spec.value : found->second;
  const auto to = session.contents(argument, slot);
  const auto put = [&](auto typed) { std::memcpy(to.data(), &typed, sizeof typed); };
  switch (spec.dtype) {
    case DType::i64:
      put(static_cast<std::int64_t>(value));
      break;
    case DType::boolean:
      put(value != 0);
      break;
    default:
      put(value);
      break;
  }
  return {};
}

}  // namespace

Status load_inputs(Session& session, const ProblemDescription& problem, const TensorSet& set, int slot) {
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const auto& spec = problem.inputs[i];
    KW_CHECK(spec.kind == TensorKind::scalar ? store_scalar(session, i, slot, spec, set)
                                             : copy_tensor(session, i, slot, spec, set.inputs));
  }
  return {};
}

Status load_weights(Session& session, const ProblemDescription& problem, const TensorSet& set) {
  session.set_own_weights({set.weights_seed, set.seeded_weights});
  for (std::size_t i = 0; i < problem.parameters.size(); ++i)
    KW_CHECK(copy_tensor(session, problem.inputs.size() + i, 0, problem.parameters[i], set.weights));
  return {};
}

std::chrono::milliseconds call_deadline(const TensorSet& set, std::optional<double> chosen_seconds) {
  const double seconds = chosen_seconds ? *chosen_seconds : std::max(5.0, 300 * set.eager_seconds);
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
}

}  // namespace kw
