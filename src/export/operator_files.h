// The files that every export for PyTorch has: the operator's sources, and the Python module around it.
#pragma once

#include <vector>

#include "export/evidence.h"
#include "export/forms.h"
#include "export/templates.h"

namespace kw {

// All names that a template of an export may use.
TemplateValues operator_values(const ExportSubject& subject, const EvidencePlaces& places);

// kernel.cpp, problem.h, contract.h, ops.cpp and exports.map below `folder`, which ends in a slash or is empty.
Status add_operator_sources(const ExportSubject& subject, const TemplateValues& values, const std::string& folder,
                            std::vector<ExportedFile>& files);

// __init__.py, kernel_module.py, native.py, original.py, contract.json and evidence.json.
Status add_module_files(const ExportSubject& subject, const TemplateValues& values, const EvidencePlaces& places,
                        const std::string& folder, std::vector<ExportedFile>& files);

}  // namespace kw
