# Kairos: `make demo` shows it working, `make test` proves it, `make help` lists the rest.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# Python's compiled modules are written, whatever the environment says: `kairos` begins in a third of the time.
unexport PYTHONDONTWRITEBYTECODE

B := build
VENV := $(B)/venv
PY := $(VENV)/bin/python
RUST := scripts/rust-env
KAIROS := $(VENV)/bin/kairos
VARIANT := demo

# Cargo chooses the features of a library by the packages that it is told to build. With all of them, always, each library
# is compiled once, and not again for the next program or for the tests.
cargo_build := $(RUST) cargo build --locked --release --workspace

firmware_crates = $(addprefix src/,firmware runtime satman kernel contracts proto pulse) vendor
rust_sources = $(shell find $(1) -name target -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)
python_sources = $(shell find $(1) -name '*.py' -o -name '*.cpp' -o -name '*.h' -o -name '*.toml')

##@ Use
# The first picture comes before anything is built that it does not need, but for the page, which is built while one of
# two cores would be idle: the hub, which takes longest of what follows, then begins at once.
.PHONY: demo
demo: ## Build what is missing, then run examples/blink.py, pulses.py, two_boards.py, ion/rabi_flop.py and a calibration through the hub on emulated devices; a picture of the page
	@mkdir -p $(B)/demo
	@$(MAKE) --no-print-directory -j2 build page
	@$(KAIROS) run examples/blink.py --device-db examples/device_db.py --vcd $(B)/demo/blink.vcd --plot $(B)/demo/blink.png
	@$(MAKE) --no-print-directory -j2 hub $(foreach v,pulse pair satellite ion,$(B)/gateware/$(v)/.stamp)
	@$(KAIROS) run examples/pulses.py --device-db examples/pulses_device_db.py --no-table figure='"$(B)/demo/pulses.png"'
	@$(KAIROS) run examples/two_boards.py --device-db examples/two_boards_device_db.py --vcd $(B)/demo/two_boards.vcd --plot $(B)/demo/two_boards.png --no-table
	@$(KAIROS) run examples/ion/rabi_flop.py --device-db examples/ion/device_db.py --quiet figure='"$(B)/demo/rabi.png"'
	@$(PY) examples/hub/beside_blink.py
	@$(PY) examples/lab/page_picture.py $(B)/demo/lab $(B)/demo/page.png

# What the tests need is built before them: a test that waits for a compiler would hold up its process. Three parts at a
# time, since cargo lets only one of them use its folder, and linking takes only one of two processors.
test_variants = block borrower bridge cards chain clocked demo fork ion lab lender memory mtdds pair peripherals pulse pulse_pair pulse_satellite reach relay satellite servo songbird span star store tree
.PHONY: test-parts
test-parts: setup-test $(B)/.venv
	@$(MAKE) --no-print-directory -j3 build loader hub hub-examples hub-traces clients rust-tests $(foreach v,$(test_variants),$(B)/gateware/$(v)/.stamp)

.PHONY: test
test: test-parts ## Run every test (some 16 minutes on two idle cores, 30 beside other work, and the builds before it)
	@scripts/test

.PHONY: test-long
test-long: test-parts ## Run the slow tests too: fuzzers, soak, long random streams
	@scripts/test --long

.PHONY: bench
bench: setup-test build loader hub hub-examples ## Measure the figures beside their baselines into build/bench.json; FIGURES="dma. sed." only those
	@$(PY) -m tests.bench $(FIGURES)

##@ Parts
.PHONY: build
build: $(B)/firmware/.stamp gateware emulator host ## Everything that `kairos run` needs

.PHONY: firmware
firmware: $(B)/firmware/.stamp loader ## Images of both cores, and the loader
$(B)/firmware/.stamp: $(B)/.setup scripts/build-firmware scripts/cargo-arm $(call rust_sources,$(firmware_crates)) Cargo.toml Cargo.lock
	@scripts/step firmware scripts/build-firmware cores
	@touch $@

.PHONY: loader
loader: $(B)/firmware/.loader
$(B)/firmware/.loader: $(B)/firmware/.stamp
	@scripts/step loader scripts/build-firmware loader
	@touch $@

.PHONY: gateware
gateware: $(B)/gateware/$(VARIANT)/.stamp ## The gateware as a library for the emulator
$(B)/gateware/%/.stamp: $(B)/.venv $(call python_sources,src/gateware)
	@cd src/gateware && ../../scripts/step "gateware $*" ../../$(PY) -m kairos_gateware.build --variant $* --board sim --output ../../$(B)/gateware/$*
	@touch $@

.PHONY: zc706
zc706: $(B)/.venv ## Verilog, constraints and Vivado script for the ZC706 board
	@cd src/gateware && ../../$(PY) -m kairos_gateware.build --variant $(VARIANT) --board zc706 --output ../../$(B)/gateware/zc706

.PHONY: emulator
emulator: $(B)/emulator/kairos-emulator ## The virtual Zynq
$(B)/emulator/kairos-emulator: $(B)/.setup Cargo.lock $(wildcard src/emulator/src/host/*.toml) $(call rust_sources,src/emulator src/bench src/firmware/config src/contracts src/proto src/pulse src/firmware/unwind)
	@scripts/step emulator $(cargo_build) --bin kairos-emulator
	@mkdir -p $(@D) && cp $(B)/cargo-host/release/kairos-emulator $@.new && mv $@.new $@

.PHONY: hub
hub: $(B)/hub/kairos-hub ## The service hub: registers of many devices over gRPC
hub_sources := $(shell find src/hub/proto examples/hub -name '*.proto') $(call rust_sources,src/hub src/firmware/batch src/contracts src/hub/endpoint src/proto)
$(B)/hub/kairos-hub: $(B)/.setup $(B)/.page Cargo.lock $(hub_sources)
	@scripts/step hub $(cargo_build) --bin kairos-hub
	@mkdir -p $(@D) && cp $(B)/cargo-host/release/kairos-hub $@.new && mv $@.new $@

# Apart from the hub: each is linked with the whole of it, and only tests and the bench need them.
.PHONY: hub-examples
hub-examples: $(B)/hub/examples/.stamp ## A plugin in Rust, and clients that measure the hub
hub_examples := counter measure read_ns
$(B)/hub/examples/.stamp: $(B)/hub/kairos-hub
	@scripts/step "hub's examples" $(cargo_build) $(addprefix --example ,$(hub_examples))
	@mkdir -p $(@D) && cp $(addprefix $(B)/cargo-host/release/examples/,$(hub_examples)) $(@D)/
	@touch $@

.PHONY: hub-traces
hub-traces: $(B)/hub/kairos-hub-traces ## The hub with traces for OpenTelemetry collectors
$(B)/hub/kairos-hub-traces: $(B)/hub/kairos-hub $(hub_sources)
	@scripts/step "hub with traces" $(cargo_build) --bin kairos-hub-traces
	@cp $(B)/cargo-host/release/kairos-hub-traces $@.new && mv $@.new $@

# Cargo decides itself what has changed.
.PHONY: rust-tests
rust-tests: $(B)/.setup $(B)/.page ## The tests of the Rust packages, which `make test` runs
	@scripts/step "Rust tests" $(RUST) cargo test --no-run --locked --release --workspace

.PHONY: page
page: $(B)/.page ## The page of the laboratory in a browser, which the hub contains
$(B)/.page: $(B)/.venv scripts/build-page $(shell find src/page src/hub/proto src/kairos/scope/page -name node_modules -prune -o -type f -print)
	@scripts/step page scripts/build-page
	@touch $@

.PHONY: clients
clients: $(B)/clients/.stamp ## The hub's clients for Rust, Go, TypeScript and C++, as far as their tools are installed
$(B)/clients/.stamp: $(B)/.venv Cargo.lock scripts/build-clients $(shell find src/hub/clients src/hub/proto src/hub/buf.yaml -type f)
	@scripts/step clients scripts/build-clients
	@touch $@

.PHONY: host
host: $(B)/.host ## The `kairos` command in build/venv
$(B)/.host: $(B)/.venv pyproject.toml Cargo.lock $(call rust_sources,src/compiler src/contracts src/native src/proto src/pulse)
	@VIRTUAL_ENV=$(abspath $(VENV)) PATH=$(abspath $(VENV))/bin:$$PATH scripts/step "compiler and command" $(RUST) maturin develop --quiet --release --locked
	@touch $@

.PHONY: wheel
wheel: $(B)/wheels/.stamp ## Wheels into build/wheels, which install where there is no toolchain
$(B)/wheels/.stamp: $(B)/firmware/.stamp $(B)/firmware/.loader $(foreach v,demo ion lab,$(B)/gateware/$(v)/.stamp) $(B)/emulator/kairos-emulator $(B)/hub/kairos-hub $(B)/.host \
		scripts/build-wheels src/emulator/pyproject.toml src/hub/pyproject.toml $(shell find src/device src/kairos -name '*.py' -o -name '*.toml' -o -name '*.txt')
	@scripts/step wheels scripts/build-wheels
	@touch $@

.PHONY: release
release: firmware $(B)/.venv ## Archives with what boards are built from, into build/release; DESCRIPTION=FILE only one of that system
	@$(PY) scripts/build-release $(if $(DESCRIPTION),--description $(DESCRIPTION))

.PHONY: venv
venv: $(B)/.venv ## The Python environment
$(B)/.venv: $(B)/.setup requirements.lock
	@test -x $(PY) || python3 -m venv $(VENV)
	@scripts/step "Python environment" $(PY) -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@echo $(abspath src/gateware) > $$($(PY) -c 'import site; print(site.getsitepackages()[0])')/kairos_gateware.pth
	@touch $@

$(B)/.setup: scripts/setup
	@mkdir -p $(B)
	@scripts/setup
	@touch $@

.PHONY: setup-test
setup-test: $(B)/.setup-test
$(B)/.setup-test: scripts/setup
	@mkdir -p $(B)
	@scripts/setup --test
	@touch $@

##@ Upkeep
.PHONY: contracts
contracts: ## Renew what is generated from the facts in src/contracts
	@python3 src/contracts/generate.py

.PHONY: protocol
protocol: $(B)/.venv ## Check the hub's protocol, and renew its page and the record of what was promised
	@$(PY) src/hub/protocol.py

.PHONY: fmt
fmt: setup-test $(B)/.venv contracts ## Format Rust and Python
	@$(RUST) cargo fmt --all
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix-only --quiet .

.PHONY: lint
lint: setup-test $(B)/.venv firmware ## Formatters and linters, warnings denied
	@scripts/lint

.PHONY: lock
lock: $(B)/.setup ## Renew requirements.lock from the pyproject files
	@scripts/lock-python

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf $(B)

.PHONY: help
help: ## This text
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
