// Exchanges as lines of JSON: written as they happen, and played back for the same prompts. The first line says which model it
// was. A playback asks no model and never guesses: a prompt that is not in the file is an error that says what differs.
#pragma once

#include "llm/model.h"

namespace kw::llm {

// The model, with each of its exchanges appended to the file before it is handed on. A file of another model is refused.
Result<std::unique_ptr<Model>> recorded(std::unique_ptr<Model> model, const std::string& file);

// Answers from a file. The same prompt asked again gets the next of its recorded answers.
Result<std::unique_ptr<Model>> replayed(const std::string& file);

}  // namespace kw::llm
