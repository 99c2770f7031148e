// What is known of an exported kernel, as JSON that goes with it and in words for its README.
#pragma once

#include "export/subject.h"

namespace kw {

// Where the export has the problem and the kernel: the commands that repeat the evidence name them.
struct EvidencePlaces {
  std::string problem, kernel;
};

Json evidence_json(const ExportSubject& subject, const EvidencePlaces& places);

// A Markdown table: speedups, verdict, errors, machine, versions, how to repeat it.
std::string evidence_table(const ExportSubject& subject, const EvidencePlaces& places);

// A Markdown table of the tensors that the kernel takes and gives.
std::string tensor_table(const ProblemDescription& problem);

// The notes of the description and of the timing, as a Markdown section; empty where there are none.
std::string notes_section(const ExportSubject& subject);

// What the problem says of itself in its first line, else its name.
std::string title_of(const ExportSubject& subject);

}  // namespace kw
