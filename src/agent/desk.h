// Where agents and a model meet: a role's template is filled to fit the model, asked, read, and where the answer cannot be used,
// asked once more with the reason. It counts faults and decides nothing.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "agent/answer.h"
#include "agent/library.h"
#include "llm/model.h"

namespace kw {

class Desk {
 public:
  Desk(Model& model, const Library& library) : model_(model), library_(library) {}

  // Takes an answer apart; what is wrong with it, or nothing.
  using Reader = std::function<std::optional<Fault>(const Exchange& exchange)>;

  struct Question {
    std::string role;          // names the template, and the purpose in the archive
    std::string purpose = {};  // where a role asks for several things: "debugger/patch"; empty: the role
    PromptValues values;
    int answer_tokens = 1000;  // where the model's context is long; a third of a short one at the most
    bool json = false;
    std::string again = "Answer again, with the one JSON object alone, all of its fields right.";  // said after a bad answer
    std::optional<std::uint64_t> seed = {};  // another one gives another answer to the same question
  };
  // Nothing: the reader was content, at the first or the second time.
  std::optional<Fault> ask(const Question& question, const Reader& read);

  // What went wrong since the last call, in order: mended faults as well as fatal ones.
  std::vector<std::string> take_faults();
  void note(AnswerFault fault);
  void note(const std::vector<AnswerFault>& faults);
  // Sections that had to be left out since the last call: "translator: parent".
  std::vector<std::string> take_left_out();

  // The compact form of every prompt.
  [[nodiscard]] bool compact() const { return model_.context_tokens() < kLongContext; }
  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] Model& model() { return model_; }
  // Nothing can be asked any more: budget spent, wrong key, ...
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }

 private:
  static constexpr int kLongContext = 16000;
  Result<Exchange> chat(const Question& question, std::vector<ChatMessage> messages, int answer_tokens);

  Model& model_;
  const Library& library_;
  std::vector<std::string> faults_, left_out_;
  std::optional<Error> broken_;
};

}  // namespace kw
