# Plimsoll's entry points. `make` alone lists them; the work is done by cargo, scripts/ and bench/.

CARGO ?= cargo
# Many tests wait for a server: twice as many threads as cores run them in half the time.
export RUST_TEST_THREADS ?= $(shell expr 2 \* `nproc`)

.DEFAULT_GOAL := help
.PHONY: ui test-ui help setup setup-lab setup-bench services diagnose demo demo-fleet test test-services lint fmt clippy tidy deny advisories fuzz-targets image test-kubernetes test-compose bench fuzz soak sanitize conformance

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what the tests need and is not there (nginx, wrk, Redis, nats-server, an OpenTelemetry collector, sshd, a JDK, Go …)
	@scripts/setup.sh

setup-lab: setup services ## setup, and what the scenarios of the lab need besides (servers, the services of lab/services)
	@scripts/setup.sh lab

services: ## build the services of the lab into lab/services/bin (needs Go, a JDK and Maven)
	@cd lab/services/go && GOBIN="$(CURDIR)/lab/services/bin" go install ./...
	@cd lab/services/java && mvn --quiet --projects '!tests' package

diagnose: setup-lab ## run every scenario of the lab three times: what limits it, and what was found (about an hour)
	$(CARGO) run --release --locked -- lab diagnose lab/scenarios --repeat 3

setup-bench: setup-lab ## setup-lab, and the tools Plimsoll is compared with (ab, hey, h2load, oha, k6)
	@scripts/setup.sh bench

demo: ## build, load the built-in target, show table, figures and run file (needs cargo, a C compiler)
	@scripts/setup.sh demo
	@scripts/demo.sh

demo-fleet: setup ## three agents and a broker of three nodes on this machine, to one answer (needs Go)
	@scripts/demo-fleet.sh

lint: fmt deny clippy tidy fuzz-targets ## every check that needs no server: format, dependencies, clippy, tidy, and that the fuzz targets compile

fmt:
	$(CARGO) fmt --all --check

# These three need the network only for crates, so their result for a commit is the same every day.
deny:
	@scripts/setup.sh lint
	$(CARGO) deny --locked check --show-stats bans licenses sources

advisories: ## ask RustSec about the dependencies (needs github.com)
	@scripts/setup.sh lint
	$(CARGO) deny --locked check advisories

clippy:
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# The whole workspace, as in every command here: a single package has other features, for which its dependencies are compiled again.
tidy:
	$(CARGO) test --locked --workspace --test tidy

fuzz-targets:
	$(CARGO) check --locked --manifest-path fuzz/Cargo.toml --target-dir target

test: setup lint test-services test-ui ## lint, then every test
	$(CARGO) test --locked --workspace --doc
	$(CARGO) test --locked --workspace --lib --bins --tests --no-fail-fast

test-services: setup ## test each service of the lab on its own, with the servers it needs (needs Go, a JDK and Maven)
	@cd lab/services/go && go test ./...
	@cd lab/services/java && mvn --quiet verify

image: ## build the container image of the static binary into target/plimsoll-image.tar; IMAGE=NAME:TAG names it
	@scripts/image.sh $(IMAGE)

test-kubernetes: ## test fleets and probes on a real Kubernetes of one node (needs root, Debian 12, Go; the first time ten minutes)
	@scripts/setup.sh kubernetes
	@lab/kubernetes/build.sh
	$(CARGO) build --locked --workspace --bins
	@scripts/image.sh plimsoll.test/plimsoll:0.1.0
	@lab/kubernetes/test.sh

test-compose: ## test fleets of containers with a Docker engine of its own (needs root, Debian 12, Go)
	@scripts/setup.sh compose
	$(CARGO) build --locked --workspace --bins
	@scripts/image.sh plimsoll.test/plimsoll:0.1.0
	@lab/compose/test.sh

ui: ## build the page from ui/ into crates/report/page (needs Node)
	@cd ui && npm ci --no-audit --no-fund && npm run build

test-ui: setup ## that the committed page is what ui/ gives, and pages of all kinds in Chromium (needs Node)
	@scripts/test-ui.sh

bench: setup-bench ## compare with other tools, run all of the lab (about two hours, resumable); DATE=YYYY-MM-DD records it
	@bench/run.sh $(if $(DATE),--date $(DATE))

soak: ## play SOAK_WORLDS (100,000) simulated worlds of a worker and of a fleet, and SOAK_FLEETS (3) of SOAK_FLEET (1000x16x3600: agents, workers, seconds)
	PLIMSOLL_SEEDS=$(or $(SOAK_WORLDS),100000) $(CARGO) test --release --locked --package plimsoll-engine --lib -- simulation --nocapture
	PLIMSOLL_SEEDS=$(or $(SOAK_WORLDS),100000) PLIMSOLL_FLEET=$(or $(SOAK_FLEET),1000x16x3600) PLIMSOLL_FLEET_SEEDS=$(or $(SOAK_FLEETS),3) $(CARGO) test --release --locked --package plimsoll-fleet --lib -- simulation --nocapture

sanitize: ## Miri, and the sanitizers for threads and addresses (needs nightly Rust with Miri and rust-src, half an hour)
	@scripts/sanitize.sh

conformance: ## play the conformance cases to curl, wrk and h2load, and write docs/conformance.md (about eight minutes)
	@scripts/setup.sh conformance
	$(CARGO) run --locked --package plimsoll-testkit --example peers -- `date +%F`
	UPDATE_DOCS=1 $(CARGO) test --locked --package plimsoll-testkit --test conformance

fuzz: ## fuzz each target for FUZZ_SECONDS (60), needs nightly cargo-fuzz
	@scripts/fuzz.sh
