#include "export/forms.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

constexpr std::array kForms{
    ExportForm{"torch", false, false, torch_files, nullptr},
    ExportForm{"cpp", false, true, cpp_files, nullptr},
    ExportForm{"kernelbench", true, false, kernelbench_files, nullptr},
    ExportForm{"hub", false, false, hub_files, build_hub},
};

Status write_into(const fs::path& folder, const std::vector<ExportedFile>& files) {
  for (const ExportedFile& file : files) {
    const fs::path path = folder / file.path;
    KW_CHECK(make_folders(path.parent_path()));
    KW_CHECK(write_file_atomically(path, file.text));
  }
  return {};
}

}  // namespace

Result<const ExportForm*> export_form(std::string_view name) {
  const auto found = std::ranges::find(kForms, name, &ExportForm::name);
  if (found == kForms.end())
    return bad_input(fmt::format("there is no export as '{}'", name), fmt::format("--as {}", fmt::join(export_form_names(), ", ")));
  return &*found;
}

std::vector<std::string> export_form_names() {
  std::vector<std::string> names;
  for (const ExportForm& form : kForms) names.emplace_back(form.name);
  return names;
}

Status check_place(const ExportForm& form, const fs::path& out, bool force) {
  const fs::path target = fs::absolute(out).lexically_normal();
  const bool is_there = fs::is_directory(target) ? !fs::is_empty(target) : fs::exists(target);
  if (is_there && !force)
    return bad_input(fmt::format("{} is there already", out.string()),
                     "--force writes over it, or choose another place with --out");
  if (fs::exists(target) && fs::is_directory(target) == form.is_one_file)
    return bad_input(fmt::format("{} is a {}", out.string(), form.is_one_file ? "folder" : "file"),
                     fmt::format("name a {} with --out", form.is_one_file ? "file" : "folder"));
  if (!fs::is_directory(target.parent_path()))
    return bad_input(fmt::format("there is no folder {}", target.parent_path().string()), "make it first");
  return {};
}

Status write_export(const ExportForm& form, const ExportSubject& subject, const fs::path& out) {
  const fs::path target = fs::absolute(out).lexically_normal();
  KW_TRY(const auto files, form.files(subject));
  if (form.is_one_file) return write_file_atomically(target, files.front().text);
  KW_TRY(const TempFolder made, TempFolder::make_in(target.parent_path(), ".kw-export"));
  KW_CHECK(write_into(made.path(), files));
  if (form.finish != nullptr) KW_CHECK(form.finish(subject, made.path()));
  std::error_code failed;
  fs::permissions(made.path(), fs::perms(0755), failed);
  if (fs::is_directory(target))  // what others have put there stays
    fs::copy(made.path(), target, fs::copy_options::recursive | fs::copy_options::overwrite_existing, failed);
  else
    fs::rename(made.path(), target, failed);
  if (failed)
    return internal_error(fmt::format("cannot write {}: {}", target.string(), failed.message()), "check the folder's permissions");
  return {};
}

}  // namespace kw
