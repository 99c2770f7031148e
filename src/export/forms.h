// The forms that a kernel can be exported in, and the files of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "export/subject.h"

namespace kw {

struct ExportedFile {
  std::string path;  // below the export's folder
  std::string text;
};

struct ExportForm {
  std::string_view name;
  bool is_one_file;   // then the export is that file, and no folder
  bool wants_sample;  // its test has no PyTorch to compare with
  Result<std::vector<ExportedFile>> (*files)(const ExportSubject&);
  // What is left to do once the files are in their folder; none: nothing.
  Status (*finish)(const ExportSubject&, const fs::path& folder);
};

Result<const ExportForm*> export_form(std::string_view name);
std::vector<std::string> export_form_names();

// Each in a file of its own.
Result<std::vector<ExportedFile>> torch_files(const ExportSubject& subject);
Result<std::vector<ExportedFile>> cpp_files(const ExportSubject& subject);
Result<std::vector<ExportedFile>> kernelbench_files(const ExportSubject& subject);
Result<std::vector<ExportedFile>> hub_files(const ExportSubject& subject);
Status build_hub(const ExportSubject& subject, const fs::path& folder);

// Whether an export may be written there, before anything long is begun. What is there is only replaced with `force`.
Status check_place(const ExportForm& form, const fs::path& out, bool force);

// Writes the export: a file, or a folder that is there whole or not at all.
Status write_export(const ExportForm& form, const ExportSubject& subject, const fs::path& out);

}  // namespace kw
