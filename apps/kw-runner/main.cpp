#include <string_view>

#include "runner/serve.h"

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "--gpus") return kw::runner::list_gpus(words[2]);
  return kw::runner::serve();
}
