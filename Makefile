# Every command that a person types. The work itself is in CMake, scripts/ and tests/.

# Seconds for each fuzzer: make fuzz SECONDS=600
SECONDS ?= 60

.PHONY: build demo test test-all test-fresh wheel docs bench format lint fuzz coverage install clean \
        build-packages python-packages test-packages analysis-packages bench-packages fresh-packages

build: build-packages
	@scripts/build release program

demo: build
	@scripts/demo

test: test-packages
	@scripts/test

test-all: test analysis-packages fresh-packages
	@scripts/test-all

test-fresh: fresh-packages
	@scripts/test-fresh

wheel: python-packages
	@scripts/wheel

docs: test-packages
	@scripts/python-env
	@scripts/build release
	@scripts/docs

bench: bench-packages
	@scripts/bench

format: test-packages
	@scripts/format

lint: analysis-packages
	@scripts/lint

fuzz: analysis-packages
	@scripts/fuzz $(SECONDS)

coverage: analysis-packages
	@scripts/coverage

install: build
	@cmake --install build

clean:
	@rm -rf build build-*

build-packages:
	@scripts/install-packages build

python-packages:
	@scripts/install-packages build python

test-packages:
	@scripts/install-packages build python test

analysis-packages:
	@scripts/install-packages build python test analysis

bench-packages:
	@scripts/install-packages build python test bench

fresh-packages:
	@scripts/install-packages fresh
