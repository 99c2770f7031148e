#include "opencl/launch_plan.h"

namespace kw::opencl {

NLOHMANN_JSON_SERIALIZE_ENUM(
    Gives, {{Gives::tensor, "tensor"}, {Gives::scalar, "scalar"}, {Gives::scratch, "scratch"}, {Gives::number, "number"}})

KW_JSON_FIELDS(Parameter, gives, index, number, bytes)
KW_JSON_FIELDS(Launch, kernel, prepare, global, local, parameters)
KW_JSON_FIELDS(LaunchPlan, scratch_bytes, launches)
KW_JSON_FIELDS(ParameterFacts, name, type, memory)
KW_JSON_FIELDS(KernelFacts, name, parameters, most_work_items, required_local)

}  // namespace kw::opencl
