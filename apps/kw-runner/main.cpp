#include "runner/serve.h"

int main() { return kw::runner::serve(); }
