# SPDX-License-Identifier: Apache-2.0
# A thin face over Meson and tests/run.
#
#   make                  build into build/
#   make tests            build what tests and benchmarks run, too
#   make demo             install missing packages, build, watch the scheduler for 5 s
#   make check            build, run the tests that need no root, kernel or network: 3 minutes
#   make test             install missing packages, build, run the tests: at most 8 minutes
#   make test-deep        run them with sanitizers, in guests and elsewhere; fuzzing, the browser
#   make test-soak        run the tests that take minutes or a machine at rest (SOAK_SECONDS of tracing)
#   make html             fetch what .html pictures need, and build with it
#   make site             the pages of docs/ as a site in build/site (mkdocs)
#   make test-symbols     compare function names of 10,000 addresses with addr2line and perf
#   make test-kernels     boot old and new kernels in guests, test each (KERNELS=...)
#   make bench            measure the overhead on this machine, in ten minutes
#   make fuzz             run each fuzzer for an hour (FUZZ_SECONDS)
#   make install          install into PREFIX under DESTDIR
#   make uninstall        remove what the last make install put there
#   make release          make packages, archives and wheels of the last commit in DIST
#   make clean            remove all builds
#   make help             print this list
#
# PYTHON=/path/to/python3 embeds another Python than the system's.

BUILD        = build
PREFIX       = /usr/local
DESTDIR      =
PYTHON       =
DEMO_SECONDS = 5
FUZZ_SECONDS = 3600
SOAK_SECONDS = 30
KERNELS      =
DIST         = dist
# Arguments for tests/run, tests/bench/run and tools/release.
ARGS         =

python = $(if $(PYTHON),-Dpython-bin=$(PYTHON))

all: build

build: $(BUILD)/build.ninja
	$(if $(PYTHON),@meson configure $(BUILD) $(python))
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix=$(PREFIX) $(python)

tests: $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dtests=true
	@$(MAKE) --no-print-directory build

demo:
	@tools/install-deps build
	@$(MAKE) --no-print-directory build
	@tools/demo $(BUILD)/perf-prof $(DEMO_SECONDS)

html:
	@tools/install-web --required
	@$(MAKE) --no-print-directory build

site: build
	@tools/install-deps site
	@tools/site $(BUILD)

check:
	@tests/run --tier check $(if $(PYTHON),--python $(PYTHON)) $(ARGS)

test:
	@tools/install-deps build
	@tools/install-deps test
	@tools/install-web
	@tools/install-readers
	@tests/run --tier test $(if $(PYTHON),--python $(PYTHON)) $(ARGS)

test-deep:
	@tools/install-deps all
	@tools/install-web
	@tools/install-readers
	@tools/install-wheel-tools
	@tools/install-spark
	@tests/run --tier deep $(if $(PYTHON),--python $(PYTHON)) $(ARGS)

test-soak:
	@tools/install-deps all
	@SOAK_SECONDS=$(SOAK_SECONDS) tests/run --tier soak $(if $(PYTHON),--python $(PYTHON)) $(ARGS)

test-symbols: tests
	@tests/live/test_inlines.py $(BUILD)/tests/helpers/frames_at 10000

# All, or KERNELS="bullseye sid/arm64": see tests/vm/kernels.
test-kernels:
	@tools/install-deps all
	@tools/install-deps kernels
	@tests/vm/kernels $(KERNELS)

bench:
	@tools/install-deps build
	@tools/install-deps test || echo "make bench: goes on; rows that need what is missing are skipped" >&2
	@$(MAKE) --no-print-directory tests
	@/usr/bin/python3 tests/bench/run --build $(BUILD) $(ARGS)

fuzz:
	@tools/install-deps all
	@tests/run --only fuzz --fuzz-seconds $(FUZZ_SECONDS) $(ARGS)

install: build
	$(if $(filter command line,$(origin PREFIX)),@meson configure $(BUILD) --prefix=$(PREFIX))
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD)
	@cp $(BUILD)/meson-logs/install-log.txt $(BUILD)/installed.txt
	$(if $(DESTDIR),,@meson introspect $(BUILD) --installed | tools/install-hints)

uninstall:
	@tools/uninstall $(BUILD)

release:
	@tools/install-deps build
	@tools/install-deps deb
	@tools/install-deps release
	@tools/install-web --required
	@tools/release $(ARGS) $(DIST)

help:
	@sed -n 's/^#   //p; s/^# PYTHON/\nPYTHON/p' Makefile

clean:
	rm -rf build build-*

.PHONY: all build tests demo html site check test test-deep test-soak test-symbols test-kernels bench fuzz install uninstall release help clean
