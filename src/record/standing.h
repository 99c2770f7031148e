// How a kernel stands beside PyTorch, by its confirmed timing: what is said first of a result, and what --require-win asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/timing.h"

namespace kw {

enum class Standing {
  faster,   // every interval is above 1: over eager and, where it was timed, over torch.compile
  slower,   // the interval over one of them is below 1: PyTorch is faster
  unclear,  // neither
  unknown,  // nothing was confirmed by a timing against PyTorch
};
std::string_view name_of(Standing standing);
std::string_view headline_of(Standing standing);  // "PyTorch is faster here"

Standing standing_of(const std::vector<Comparison>& comparisons);
Standing standing_of(const std::optional<TimingRecord>& timing);

// "PyTorch is faster here: the kernel has 0.39x the speed of eager (0.38 to 0.40)". Nothing was confirmed: "not confirmed".
std::string standing_words(const std::vector<Comparison>& comparisons);
std::string standing_words(const std::optional<TimingRecord>& timing);

// {"standing": "slower", "words": ...}, as every command prints it.
Json standing_json(const std::vector<Comparison>& comparisons);
Json standing_json(const std::optional<TimingRecord>& timing);

// The comparison with this baseline; null where there is none.
const Comparison* comparison_with(const std::optional<TimingRecord>& timing, std::string_view baseline);

}  // namespace kw
