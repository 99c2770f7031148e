// A recording read back, and where a prompt differs from what was recorded.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/exchange.h"

namespace kw::llm {

inline constexpr int kRecordingVersion = 1;
inline constexpr const char* kRefused = "refused";  // the `finish` of a recorded Error: the model's part ended with it

struct Recording {
  std::string name;
  int context_tokens = 0;
  std::vector<Exchange> exchanges;
};

Result<Recording> read_recording(const std::string& file);

// In a sentence or two: the recorded prompt that is nearest, and the first line in which it differs.
std::string where_it_differs(const Recording& recording, const std::string& purpose, const std::vector<ChatMessage>& messages);

}  // namespace kw::llm
