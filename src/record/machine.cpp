#include "record/machine.h"

namespace kw {

KW_JSON_FIELDS(FmaPeak, isa, threads, gflops)
KW_JSON_FIELDS(BandwidthPoint, pattern, threads, working_set_bytes, gbytes_per_second)
KW_JSON_FIELDS(Machine, id, cpu_model, cores, isas, widest_isa, l1d_bytes, l2_bytes, l3_bytes, memory_bytes, peaks, bandwidth,
               openmp_region_seconds, measured_at)

}  // namespace kw
