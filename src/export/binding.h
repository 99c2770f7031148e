// What ties a kernel to PyTorch: the operator's schema and the tables of its arguments, for C++ and for Python.
#pragma once

#include "export/subject.h"

namespace kw {

// Of the operator, and of nothing else in a process: two exports may be loaded side by side.
std::string operator_namespace(const ExportSubject& subject);

// "forward(Tensor x, float alpha, Tensor weight) -> Tensor"
std::string operator_schema(const ProblemDescription& problem);

// contract.h of the operator's source.
std::string binding_header(const ExportSubject& subject);

// contract.json of the Python side.
Json binding_json(const ExportSubject& subject);

// The macros that a kernel is compiled with beside its flags, as a Python list.
std::string binding_defines(const ExportSubject& subject);

}  // namespace kw
