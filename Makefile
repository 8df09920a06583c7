# make demo   build the gate and watch it judge a recorded session
# make test   everything that must hold, with its own set-up
# make lint   formatting, clippy, rustdoc, shell scripts
# make bench  the numbers of BENCHMARKS.md
# make peers  the same decision by other engines
# make fmt    format the code
# make hook   the hook on its cases
# make faults  end, fill, forbid and corrupt under the gate 10 000 times (make test does it a few times)
# make deny   licences and sources of every manifest; needs cargo-deny
# make python-oracles  have Python's libraries verify what the gate hands on
# make bare   link the core with nothing beneath it
# make setup  what the other targets need and the machine may lack

CARGO  ?= cargo
# With CI set, a lock file that does not fit its manifest is an error; elsewhere cargo brings it up to date.
LOCKED := $(if $(CI),--locked)
TARGET := $(or $(CARGO_TARGET_DIR),target)
GATE   := $(TARGET)/release/stigmergate
BARE   := --manifest-path tests/bare/Cargo.toml
PEERS  := --manifest-path benches/peers/Cargo.toml

.PHONY: demo test unit conform hook faults faults-small python-oracles debug-gate lint bench peers deny fmt bare setup
# One cargo at a time: two would wait for each other's lock.
.NOTPARALLEL:

demo:
	$(CARGO) build --release $(LOCKED) -p stigmergate-cli
	examples/demo $(GATE)

# In the order in which they fail fastest.
# The faults need the loader of Linux.
test: setup lint unit bare conform python-oracles $(if $(filter Linux,$(shell uname -s)),faults-small)

unit:
	@if $(CARGO) nextest --version >/dev/null 2>&1; then run='nextest run'; else run='test --lib --bins --tests --examples'; fi; \
	set -x; $(CARGO) $$run --workspace $(LOCKED)
	$(CARGO) test --doc --workspace $(LOCKED)

conform:
	$(CARGO) run --release -q $(LOCKED) -p stigmergate-conform -- --surface native tests/vectors/*.jsonl

hook:
	$(CARGO) test --release $(LOCKED) -p stigmergate-cli --test hook_cases -- --nocapture

faults:
	$(CARGO) build --release $(LOCKED) -p stigmergate-cli -p stigmergate-faults
	$(TARGET)/release/stigmergate-faults --gate $(GATE)

# The program that the unit tests have built already.
debug-gate:
	$(CARGO) build $(LOCKED) -p stigmergate-cli -p stigmergate-faults

faults-small: debug-gate
	$(TARGET)/debug/stigmergate-faults --gate $(TARGET)/debug/stigmergate --kills 150 --every 29 --stride 5003 --commands 2

python-oracles: debug-gate
	tools/python-env tests/python/requirements.txt
	cd tests/python && STIGMERGATE_BIN=$(abspath $(TARGET)/debug/stigmergate) $(abspath $(TARGET)/python/bin/python) -B -m unittest

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) fmt $(BARE) --check
	$(CARGO) fmt $(PEERS) --check
	$(CARGO) clippy --workspace --all-targets $(LOCKED) -- -D warnings
	$(CARGO) clippy $(BARE) --release --target wasm32-unknown-unknown --target-dir $(TARGET) --no-deps $(LOCKED) -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps $(LOCKED)
	for script in tools/* .ci/run; do bash -n "$$script" || exit 1; done

bench:
	$(CARGO) build --release $(LOCKED) -p stigmergate-cli
	STIGMERGATE_BIN=$(abspath $(GATE)) $(CARGO) bench $(LOCKED) -p stigmergate-benches

peers:
	$(CARGO) run --release -q $(LOCKED) $(PEERS)

deny:
	for manifest in Cargo.toml tests/bare/Cargo.toml benches/peers/Cargo.toml; do \
		$(CARGO) deny --manifest-path $$manifest --config deny.toml check licenses bans sources || exit 1; done

fmt:
	$(CARGO) fmt --all
	$(CARGO) fmt $(BARE)
	$(CARGO) fmt $(PEERS)

bare: setup
	tools/check-bare

setup:
	tools/wasm-target
