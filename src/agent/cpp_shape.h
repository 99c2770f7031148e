// The shape of C++ text, as far as it can be seen without a compiler: comments, braces, functions and their arguments, knobs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/kernel.h"

namespace kw {

std::vector<std::string> lines_of(std::string_view text);

// Comments and the insides of literals are blanks; lines stay where they are.
std::string code_without_comments(std::string_view text);

bool braces_balance(const std::string& text);

// A definition, not a declaration or a call.
bool defines_function(const std::string& text, const std::string& name);

// The types of a function's arguments in a uniform spelling ("const float*"); nothing where there is no such function.
std::optional<std::vector<std::string>> argument_types(const std::string& text, const std::string& name);

// The knobs that a kernel declares ("// kw:knob KW_TILE 32 64"), where each has a default in the text that is among its values.
std::vector<Knob> knobs_of(const std::string& source);

// "  12| text", for prompts that speak of lines.
std::string with_line_numbers(const std::string& text);

}  // namespace kw
