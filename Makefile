# Every command that a person types. The work itself is in CMake, scripts/ and tests/.

# Seconds for each fuzzer: make fuzz SECONDS=600
SECONDS ?= 60

.PHONY: build demo test test-all docs bench format lint fuzz coverage install clean build-packages test-packages bench-packages

build: build-packages
	@scripts/build release ngf_cli

demo: build
	@scripts/demo

test: test-packages
	@scripts/test

test-all: test
	@scripts/test-all

docs: test-packages
	@scripts/python-env
	@scripts/build python
	@scripts/docs

bench: bench-packages
	@scripts/bench

format: test-packages
	@scripts/format

lint: test-packages
	@scripts/lint

fuzz: test-packages
	@scripts/fuzz $(SECONDS)

coverage: test-packages
	@scripts/coverage

install: build
	@cmake --install build

clean:
	@rm -rf build build-*

build-packages:
	@scripts/install-packages build

test-packages:
	@scripts/install-packages build test

bench-packages:
	@scripts/install-packages build test bench
