#include "record/kernel.h"

namespace kw {

KW_JSON_FIELDS(Knob, name, standard, values)
KW_JSON_FIELDS(Kernel, source, dsl, knobs, constraints, claims, author)

}  // namespace kw
