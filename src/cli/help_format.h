// Help as people read it: lines that fit a terminal, and of a value what it is, not how it is checked.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace kw {

// What stands for a value of the option: 'INT', 'FILE', '{eager,compile}'; empty for a flag.
std::string value_shown(const CLI::Option& option);

std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace kw
