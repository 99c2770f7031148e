// What the command line says of itself: examples below every command's help, the man page, completion for shells. All of it is read
// from the commands as they are declared, so that it is never behind them.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/output.h"

namespace CLI {
class App;
}

namespace kw {

// Below the help of every command that has some; call it when all commands are there.
void add_examples(CLI::App& app);

// In roff, for man(1).
std::string man_page(const CLI::App& app);
Result<std::string> completion(const CLI::App& app, const std::string& shell);  // bash, zsh, fish

// `kernelwright man` and `kernelwright completion SHELL`.
class ManualCommands {
 public:
  ManualCommands(CLI::App& app, bool& json);
  std::optional<Result<int>> run(Output& output) const;

 private:
  const CLI::App *app_, *man_, *completion_;
  std::string shell_;
};

}  // namespace kw
