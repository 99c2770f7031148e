# Shortcuts; each is a command that can also be typed. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test check test-slow bench format clean

help:  ## list these
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "  make %-10s %s\n", $$1, $$2 }'

setup:  ## install what is missing: Debian packages, and .venv with PyTorch
	@tools/setup

build: setup  ## build the program into build/release
	@cmake --preset release
	@cmake --build --preset release --target kernelwright

demo: build  ## see it work on an example
	@tools/demo

test:  ## build, then run every suite (what CI runs)
	@tools/test

check: setup  ## the suites that uncommitted changes can touch, four minutes at most (SINCE=COMMIT: changes since then)
	@.venv/bin/python tools/check $(if $(SINCE),--since $(SINCE))

test-slow:  ## the same, with slow tests and sanitizers
	@tools/test --slow

bench: build  ## run the benchmarks; best on an idle machine
	@cmake --build --preset release --target benches
	@found=0; for program in build/release/bin/*_bench; do \
	  [ -x "$$program" ] || continue; found=1; "$$program" || exit 1; done; \
	  [ $$found = 1 ] || { echo "no benchmark was built in build/release/bin" >&2; exit 1; }
	@.venv/bin/python bench/triton/triton_bench.py

format:  ## rewrite the C++ files as clang-format has it
	@tools/check-format --fix

clean:  ## remove build/; .venv and the archive stay
	@rm -rf build
