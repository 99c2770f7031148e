#include <gtest/gtest.h>

#include "export/forms.h"
#include "export/templates.h"

namespace kw {
namespace {

TEST(ExportErrors, ANameThatIsNotKnownIsNamed) {
  const auto text = filled("of @nobody@", {}, "a template");
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("a template: nothing is known of @nobody@"), std::string::npos);
}

TEST(ExportErrors, AFormThatIsNotThereListsThoseThatAre) {
  const auto form = export_form("wheel");
  ASSERT_FALSE(form);
  EXPECT_NE(form.error().hint.find("torch, cpp, kernelbench, hub"), std::string::npos);
}

TEST(ExportErrors, APlaceThatIsTakenIsOnlyWrittenWithForce) {
  const auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file_atomically(folder->path() / "mine.txt", "mine"));
  const auto torch = export_form("torch"), kernelbench = export_form("kernelbench");
  EXPECT_FALSE(check_place(**torch, folder->path(), false));
  EXPECT_TRUE(check_place(**torch, folder->path(), true));
  EXPECT_FALSE(check_place(**torch, folder->path() / "mine.txt", true));
  EXPECT_FALSE(check_place(**kernelbench, folder->path(), true));
  EXPECT_TRUE(check_place(**kernelbench, folder->path() / "mine.txt", true));
  EXPECT_FALSE(check_place(**torch, folder->path() / "no" / "such", false));
}

}  // namespace
}  // namespace kw
