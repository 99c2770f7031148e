// Going on with an answer that was cut off: the turns to send, and the two pieces made one.
#pragma once

#include <string>

#include "llm/model.h"

namespace kw::llm {

// What the user says where a model does not continue its own words.
inline constexpr const char* kGoOn =
    "Your answer was cut off. Go on with the character that comes next: repeat nothing, begin with no greeting and no new code "
    "fence.";

// The request that asks for the rest. Where the provider continues its own words, the answer so far is the last message;
// elsewhere the user asks for the rest.
ChatRequest request_for_the_rest(const ChatRequest& request, const std::string& so_far, bool continues_own_words);

// Models that are asked for the rest like to repeat the last words, or to open the code block again: neither is kept twice.
std::string joined(const std::string& so_far, std::string rest);

// Bytes that are no UTF-8 replaced, as JSON can carry nothing else.
std::string as_utf8(const std::string& text);

}  // namespace kw::llm
