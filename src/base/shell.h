// Words for commands that are printed for people to paste into a shell.
#pragma once

#include <string>

namespace kw {

// The word as it is where a shell takes it so, else in single quotes.
std::string shell_word(const std::string& word);

}  // namespace kw
