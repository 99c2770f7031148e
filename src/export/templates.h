// The files of knowledge/export/ with their names filled in.
#pragma once

#include <map>
#include <string>

#include "base/files.h"

namespace kw {

using TemplateValues = std::map<std::string, std::string>;  // "name" stands for @name@

// An error where a text has a name that no value is given for: a mistake of ours, seen by every test of exports.
Result<std::string> filled(const std::string& text, const TemplateValues& values, const std::string& what);

// The file knowledge/export/PATH, filled.
Result<std::string> filled_template(const std::string& path, const TemplateValues& values);

}  // namespace kw
