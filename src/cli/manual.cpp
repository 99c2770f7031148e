#include "cli/manual.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/shell.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/help_format.h"

namespace kw {
namespace {

// By the command's full name. A test runs each command's help and looks for them.
const std::map<std::string, std::vector<const char*>>& examples() {
  static const std::map<std::string, std::vector<const char*>> all{
      {"optimize",
       {"kernelwright optimize problems/level1/50_rms_norm.py --time 60s",
        "kernelwright optimize my_model.py --evaluations 40 --out fast.cpp",
        "kernelwright optimize my_model.py --time 10m --model local", "kernelwright optimize --resume 3 --time 5m"}},
      {"generate", {"kernelwright generate problems/level1/33_gelu_exact.py --model local"}},
      {"repair", {"kernelwright repair problems/level1/33_gelu_exact.py my_gelu.cpp --model local"}},
      {"migrate",
       {"kernelwright migrate my_model.py kernel.cpp --to cuda-c",
        "kernelwright migrate my_model.py kernel.cu --to cpp --out kernel.cpp"}},
      {"bench",
       {"kernelwright bench problems/level1 --time 60s",
        "kernelwright bench KernelBench/level2 --time 2m --scale-to 100ms --scale-to 2GiB",
        "kernelwright bench problems/level1 --only softmax --only norm --evaluations 10"}},
      {"runs", {"kernelwright runs", "kernelwright runs --limit 5 --json", "kernelwright runs --delete 3 4"}},
      {"cache", {"kernelwright cache", "kernelwright cache --limit 2GB", "kernelwright cache --clear"}},
      {"show", {"kernelwright show 1", "kernelwright show 1 --kernel 5 > kernel.cpp", "kernelwright show 1 --prompts"}},
      {"report", {"kernelwright report 1", "kernelwright report 1 --out rms_norm.html"}},
      {"view", {"kernelwright view", "kernelwright view --port 8080"}},
      {"compare", {"kernelwright compare 1 4"}},
      {"best", {"kernelwright best 50_rms_norm", "kernelwright best problems/level1/50_rms_norm.py --out rms_norm.cpp"}},
      {"export",
       {"kernelwright export 1 --as torch", "kernelwright export 1 --as cpp --out rms_norm --name rms_norm",
        "kernelwright export 1 --as kernelbench --kernel 5"}},
      {"ledger", {"kernelwright ledger", "kernelwright ledger --zone memory --class softmax"}},
      {"doctor", {"kernelwright doctor", "kernelwright doctor --refresh"}},
      {"describe", {"kernelwright describe problems/level1/33_gelu_exact.py"}},
      {"verify",
       {"kernelwright verify problems/level1/33_gelu_exact.py my_gelu.cpp",
        "kernelwright verify my_model.py kernel.cpp --knob KW_TILE=64",
        "kernelwright verify my_model.py model_new.py --allow-torch"}},
      {"measure",
       {"kernelwright measure problems/level1/33_gelu_exact.py my_gelu.cpp",
        "kernelwright measure my_model.py new.cpp --against old.cpp"}},
      {"model fetch", {"kernelwright model fetch"}},
      {"model serve", {"kernelwright model serve --port 8081"}},
      {"model test", {"kernelwright model test --model local"}},
      {"vgpu run",
       {"kernelwright vgpu run my_program.cu", "kernelwright vgpu run --gpu h100 my_program.cu 1024",
        "kernelwright vgpu run my_triton_program.py"}},
      {"vgpu profile", {"kernelwright vgpu profile --lines 10 my_program.cu"}},
      {"man", {"kernelwright man > kernelwright.1", "kernelwright man | man -l -"}},
      {"completion",
       {"source <(kernelwright completion bash)", "kernelwright completion zsh > ~/.zfunc/_kernelwright",
        "kernelwright completion fish > ~/.config/fish/completions/kernelwright.fish"}},
  };
  return all;
}

using Commands = std::vector<std::pair<std::string, const CLI::App*>>;  // full name without the program's, the command

void collect(const CLI::App& app, const std::string& prefix, Commands& all) {
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name().empty()) continue;
    all.emplace_back(prefix + each->get_name(), each);
    collect(*each, prefix + each->get_name() + " ", all);
  }
}

Commands commands_of(const CLI::App& app) {
  Commands all;
  collect(app, "", all);
  return all;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option*) { return true; });
}

std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_snames()) flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Text of a man page: what begins a line there with a dot, or has a backslash, would be a command.
std::string roff(std::string_view text) {
  std::string safe;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\')
      safe += "\\\\";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
    at_start = c == '\n';
  }
  return safe;
}

std::string roff_options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of(command)) {
    std::string name = fmt::format("{}", fmt::join(flags_of(*option), ", "));
    if (name.empty()) name = option->get_name();
    if (takes_value(*option) && !option->get_positional()) name += " " + value_shown(*option);
    text += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(option->get_description()));
  }
  return text;
}

std::string roff_examples(const std::string& name) {
  const auto found = examples().find(name);
  if (found == examples().end()) return "";
  std::string text = ".PP\n.RS\n.nf\n";
  for (const char* line : found->second) text += roff(line) + "\n";
  return text + ".fi\n.RE\n";
}

std::string bash_completion(const CLI::App& app) {
  std::string cases;
  const auto words_of = [](const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; })) words.push_back(each->get_name());
    for (const CLI::Option* option : options_of(command))
      for (const std::string& flag : flags_of(*option)) words.push_back(flag);
    return fmt::format("{}", fmt::join(words, " "));
  };
  for (const auto& [name, command] : commands_of(app))
    cases += fmt::format("    {}) words={} ;;\n", shell_word(name), shell_word(words_of(*command)));
  return fmt::format(
      "# Completion of kernelwright for bash: source this file.\n"
      "_kernelwright() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} command= word words=\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$command $word\" in\n"
      "      ' model'|' vgpu') command=$word ;;\n"
      "      'model '[a-z]*|'vgpu '[a-z]*) command=\"$command $word\"; break ;;\n"
      "      ' '[a-z]*) command=$word; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case $command in\n"
      "    '') words={} ;;\n"
      "{}"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [[ $current == -* || ( -z $command && ${{#COMPREPLY[@]}} -gt 0 ) ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -o filenames -F _kernelwright kernelwright\n",
      shell_word(words_of(app)), cases);
}

std::string zsh_completion(const CLI::App& app) {
  return "#compdef kernelwright\n# Completion of kernelwright for zsh: put this file into a folder of $fpath as _kernelwright.\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_completion(app);
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# Completion of kernelwright for fish: put this file into ~/.config/fish/completions.\n";
  for (const auto& [name, command] : commands_of(app)) {
    const auto space = name.find(' ');
    const std::string condition =
        space == std::string::npos ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + name.substr(0, space);
    text += fmt::format("complete -c kernelwright -n {} -f -a {} -d {}\n", shell_word(condition), command->get_name(),
                        shell_word(command->get_description()));
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& flag : option->get_lnames())
        text += fmt::format("complete -c kernelwright -n {} -l {}{} -d {}\n",
                            shell_word("__fish_seen_subcommand_from " + command->get_name()), flag,
                            takes_value(*option) ? " -r" : "", shell_word(option->get_description()));
  }
  return text;
}

}  // namespace

void add_examples(CLI::App& app) {
  for (const auto& [name, command] : commands_of(app)) {
    const auto found = examples().find(name);
    if (found == examples().end()) continue;
    const_cast<CLI::App*>(command)->footer(
        fmt::format("{}:\n  {}", found->second.size() == 1 ? "Example" : "Examples", fmt::join(found->second, "\n  ")));
  }
}

std::string man_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH KERNELWRIGHT 1 \"\" \"kernelwright {}\"\n.SH NAME\nkernelwright \\- a faster kernel for a PyTorch module\n.SH "
      "SYNOPSIS\n.B kernelwright\n"
      "COMMAND [options]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      kVersion, roff(app.get_description()));
  for (const auto& [name, command] : commands_of(app)) {
    text += fmt::format(".SS kernelwright {}", roff(name));
    for (const CLI::Option* option : options_of(*command))
      if (option->get_positional()) {
        std::string upper = option->get_name(true);
        std::transform(upper.begin(), upper.end(), upper.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        text += option->get_required() ? " " + roff(upper) : " [" + roff(upper) + "]";
      }
    text += fmt::format("\n{}\n{}{}", roff(command->get_description()), roff_options(*command), roff_examples(name));
  }
  text +=
      ".SH EXIT STATUS\n0 passed, 1 judged and not passed, 2 bad usage or input, 3 the evaluator itself failed.\n"
      ".SH ENVIRONMENT\n.TP\n.B KERNELWRIGHT_HOME\nwhere results are kept (~/.local/share/kernelwright)\n"
      ".TP\n.B KERNELWRIGHT_CACHE\nwhere what can be made again is kept (~/.cache/kernelwright)\n"
      ".TP\n.B KERNELWRIGHT_CACHE_GB\nhow many gigabytes of what can be made again are kept there (4, or as 'kernelwright cache "
      "--limit' has set it)\n"
      ".TP\n.B KERNELWRIGHT_ROOT\nthe folder that holds oracle and knowledge\n";
  return text;
}

Result<std::string> completion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_completion(app);
  if (shell == "zsh") return zsh_completion(app);
  if (shell == "fish") return fish_completion(app);
  return bad_input(fmt::format("there is no completion for '{}'", shell), "kernelwright completion bash, zsh or fish");
}

ManualCommands::ManualCommands(CLI::App& app, bool& json) : app_(&app) {
  auto* man = app.add_subcommand("man", "print the man page");
  man->add_flag("--json", json, "print one JSON object");
  man_ = man;
  auto* completions = app.add_subcommand("completion", "print what completes these commands in a shell");
  completions->add_option("shell", shell_, "bash, zsh or fish")->required();
  completions->add_flag("--json", json, "print one JSON object");
  completion_ = completions;
}

std::optional<Result<int>> ManualCommands::run(Output& output) const {
  if (*man_) {
    const std::string text = man_page(*app_);
    output.result(text, {{"text", text}});
    return kPassed;
  }
  if (!*completion_) return std::nullopt;
  auto text = completion(*app_, shell_);
  if (!text) return text.error();
  output.result(*text, {{"text", *text}});
  return kPassed;
}

}  // namespace kw
