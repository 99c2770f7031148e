#include "report/page.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Page, EscapesTextForMarkup) { EXPECT_EQ(html_escaped("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;"); }

TEST(Page, JsonForAScriptElementHasNothingThatEndsIt) {
  const Json json{{"name", "</script><!--<script>&amp;"}, {"broken", "\xff\xfe"}};
  const std::string text = json_for_script(json);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos) << text;
  EXPECT_EQ(Json::parse(text).at("name"), json.at("name"));
}

TEST(Page, AReportNamesItsOwnScriptAndStyleAlone) {
  RunView view;
  view.run.id = "7";
  view.run.problem_name = "{{end}}{{head}}";  // marks of the frame are no marks in what is put into it
  const std::string page = report_page(view);
  EXPECT_EQ(page.find("{{without_script}}"), std::string::npos);
  EXPECT_NE(page.find("{{end}}{{head}}, run 7"), std::string::npos);
  EXPECT_NE(page.find("script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(page.find("unsafe"), std::string::npos);
}

}  // namespace
}  // namespace kw
