#include "record/profile.h"

namespace kw {

KW_JSON_FIELDS(Finding, kind, text, weight, levers)
KW_JSON_FIELDS(ProfileRecord, findings, method)

}  // namespace kw
