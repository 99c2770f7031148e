#include "suite/problem_folder.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"

namespace kw {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool is_problem(const std::string& text) {
  return text.find("class Model") != std::string::npos && text.find("def get_inputs") != std::string::npos;
}

// Names that begin with a point or an underscore are not for people: caches, and what belongs to packages.
bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(".") || name.starts_with("_");
}

// Names of files may be any bytes; those in records are text.
std::string in_utf8(const std::string& name) {
  return Json::parse(Json(name).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

// Smaller problems that a bench wrote are in its results; they are no problems of this folder.
bool has_results(const fs::path& folder) {
  std::error_code gone;
  return fs::exists(folder / "results.json", gone) &&
         (fs::exists(folder / "problems", gone) || fs::exists(folder / "kernels", gone));
}

void look_in(const fs::path& folder, const fs::path& root, ProblemFolder& found) {
  for (const auto& entry : entries_of(folder)) {
    std::error_code gone;
    if (is_hidden(entry.path())) continue;
    if (entry.is_directory(gone)) {
      if (!entry.is_symlink(gone) && !has_results(entry.path())) look_in(entry.path(), root, found);
      continue;
    }
    if (entry.path().extension() != ".py") continue;
    const std::string raw = entry.path().lexically_relative(root).replace_extension().string();
    const std::string name = in_utf8(raw);
    const auto text = read_file(entry.path());
    if (!text)
      found.problems.push_back({name, entry.path(), "", text.error().message});
    else if (!is_problem(*text))
      found.skipped.push_back(name + ".py");
    else
      found.problems.push_back({name, entry.path(), sha256(*text), name == raw ? "" : "its name is not in UTF-8: give it another"});
  }
}

}  // namespace

bool counts_before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto number_at = [](const std::string& text, std::size_t& place) {
    while (place < text.size() && text[place] == '0') ++place;
    const std::size_t begin = place;
    while (place < text.size() && is_digit(text[place])) ++place;
    return text.substr(begin, place - begin);
  };
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string left = number_at(a, i), right = number_at(b, j);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i, ++j;
  }
  if (i < a.size() || j < b.size()) return i >= a.size();
  return a < b;  // 01 and 1
}

std::string name_of_folder(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

bool is_wanted(const std::string& name, const std::vector<std::string>& only) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

Result<ProblemFolder> problems_in(const fs::path& folder) {
  std::error_code gone;
  ProblemFolder found;
  if (fs::is_regular_file(folder, gone)) {
    if (folder.extension() != ".py")
      return bad_input(fmt::format("{}: is neither a folder nor a Python file", folder.string()),
                       "name a folder of problems, such as problems/level1");
    KW_TRY(const std::string text, read_file(folder));
    found.problems.push_back({folder.stem().string(), folder, sha256(text), ""});
    return found;
  }
  if (!fs::is_directory(folder, gone))
    return bad_input(fmt::format("{}: there is no such folder", folder.string()),
                     "name a folder of problems, such as problems/level1");
  look_in(folder, folder, found);
  if (found.problems.empty())
    return bad_input(fmt::format("{}: has no problems in it", folder.string()),
                     "a problem is a Python file with a class Model, get_inputs() and get_init_inputs()");
  const auto by_name = [](const FolderProblem& a, const FolderProblem& b) { return counts_before(a.name, b.name); };
  std::sort(found.problems.begin(), found.problems.end(), by_name);
  std::sort(found.skipped.begin(), found.skipped.end(), counts_before);
  return found;
}

}  // namespace kw
