#include "report/page.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "report/run_json.h"
#include "report/run_text.h"
#include "report/suite_text.h"

namespace kw {

// Made of src/report/page at build time; see src/CMakeLists.txt.
extern const std::string_view kPageStyles[];
extern const std::size_t kPageStyleCount;
extern const std::string_view kPageScripts[];
extern const std::size_t kPageScriptCount;
extern const std::string_view kPageFrames[];

namespace {

std::string joined(const std::string_view* texts, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += texts[i];
  return all;
}

// The marks are looked for in the frame alone, before anything foreign stands in it.
std::string framed(std::string_view title, std::string_view head, std::string_view without_script, std::string_view end) {
  const std::string_view frame = kPageFrames[0];
  std::string page;
  std::size_t done = 0;
  for (const auto& [mark, text] : {std::pair<std::string_view, std::string_view>{"{{title}}", title},
                                   {"{{head}}", head},
                                   {"{{without_script}}", without_script},
                                   {"{{end}}", end}}) {
    const auto place = frame.find(mark, done);
    page.append(frame.substr(done, place - done)).append(text);
    done = place + mark.size();
  }
  return page.append(frame.substr(done));
}

}  // namespace

const std::string& page_style() {
  static const std::string style = joined(kPageStyles, kPageStyleCount);
  return style;
}

const std::string& page_script() {
  static const std::string script = joined(kPageScripts, kPageScriptCount);
  return script;
}

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string json_for_script(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  // These stand in strings only, where the escaped form means the same.
  std::string safe;
  safe.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

namespace {

// One file: the style, the data as islands, the script, and a policy that lets nothing else in.
std::string whole_page(const std::string& title, const std::string& without_script, const std::string& islands) {
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
      sha256_base64(page_script()), sha256_base64(page_style()));
  const std::string head =
      fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<style>{}</style>", policy, page_style());
  return framed(html_escaped(title + " - Kernelwright"), head, html_escaped(without_script),
                fmt::format("{}<script>{}</script>", islands, page_script()));
}

std::string island(std::string_view id, const Json& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, json_for_script(json));
}

}  // namespace

std::string report_page(const RunView& view) {
  return whole_page(fmt::format("{}, run {}", view.run.problem_name, view.run.id), run_text(view.run, view.individuals, {}),
                    island("data", page_json(view)) + island("texts", texts_json(view)));
}

std::string suite_page(const SuiteRecord& suite) {
  return whole_page(suite.name, suite_text(suite, {}), island("data", {{"suite", suite}, {"totals", totals_of(suite)}}));
}

std::string viewer_page() {
  return framed("Kernelwright", "<link rel=\"stylesheet\" href=\"/page.css\">",
                "This page needs JavaScript. The same is printed by: kernelwright runs, kernelwright show RUN",
                "<script src=\"/page.js\"></script>");
}

}  // namespace kw
