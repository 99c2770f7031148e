#include "cli/cli.h"

int main(int argc, char** argv) { return kw::run_cli(argc, argv); }
