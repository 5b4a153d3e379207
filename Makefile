# Every command that a person types. The work itself is in CMake, scripts/ and tests/.

BUILD := build
JOBS ?= $(shell nproc)
# Seconds for each fuzzer: few in `make test`, as many as you like in `make fuzz SECONDS=600`.
SECONDS ?= 60

.PHONY: build demo test test-all bench format lint fuzz coverage install clean packages

build: packages
	@scripts/build release

packages:
	@scripts/install-packages

demo: build
	@scripts/demo

test: build
	@scripts/test

test-all: test
	@scripts/test-all

bench: build
	@scripts/bench

format: packages
	@scripts/format

lint: build
	@scripts/lint

fuzz: packages
	@scripts/fuzz $(SECONDS)

coverage: packages
	@scripts/coverage

install: build
	@cmake --install $(BUILD)

clean:
	@rm -rf build build-*
