#include "export/binding.h"
#include "export/evidence.h"
#include "export/forms.h"
#include "export/operator_files.h"

namespace kw {

Result<std::vector<ExportedFile>> torch_files(const ExportSubject& subject) {
  const std::string package = "src/" + subject.name + "/";
  const EvidencePlaces places{package + "original.py", package + "sources/kernel.cpp"};
  const TemplateValues values = operator_values(subject, places);
  std::vector<ExportedFile> files;
  KW_CHECK(add_operator_sources(subject, values, package + "sources/", files));
  KW_CHECK(add_module_files(subject, values, places, package, files));
  const std::string test = "tests/test_" + subject.name + ".py";
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"native/build_kernel.py", "build_kernel.py"},
                                                                                 {"native/measure.py", package + "measure.py"},
                                                                                 {"torch/backend.py", "backend.py"},
                                                                                 {"torch/pyproject.toml", "pyproject.toml"},
                                                                                 {"torch/README.md", "README.md"},
                                                                                 {"torch/test.py", test}}) {
    KW_TRY(std::string text, filled_template(from, values));
    files.push_back({to, std::move(text)});
  }
  return files;
}

}  // namespace kw
