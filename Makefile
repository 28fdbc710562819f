# Bordereau. 'make' lists what can be made.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo serve test race check bench bench-sandbox sandbox-image chaos soak conformance lint fmt setup setup-test build web test-web clean FORCE

BIN := $(CURDIR)/build/bin
TOOL := go tool -modfile=.ci/tools.mod
# What runs inside sandboxes over the host's /usr, and what shows reports.
PACKAGES := bubblewrap e2fsprogs python3 python3-pandas python3-matplotlib python3-openpyxl poppler-utils fonts-dejavu-core fonts-liberation
# Real servers and second readers that tests start.
TEST_PACKAGES := redis-server postgresql qpdf chromium-headless-shell

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: build ## do all set-up, then the main job on a sample organisation, into out/
	@$(BIN)/bordereau demo --out out

serve: build ## do all set-up, import the sample organisations on first use, serve all roles on loopback
	@$(BIN)/bordereau serve --sample

setup: $(BIN)/runsc
	@.ci/debian-packages $(PACKAGES)

setup-test: setup
	@.ci/debian-packages $(TEST_PACKAGES)

build: setup web $(BIN)/bordereau $(BIN)/gov $(BIN)/guest $(BIN)/sandboxd ## build the programs into build/bin

# The program embeds the lists it needs; go itself knows what is stale.
$(BIN)/bordereau: FORCE | web
	@go build -o $@ ./cmd/bordereau

PAGES := web/dist/pages/index.html
WEB_SOURCES := $(shell find web/src web/public web/index.html web/vite.config.ts web/tsconfig.json -type f 2>/dev/null)

# The pages need Node only while they are built.
ifneq ($(shell command -v npm >/dev/null && node -p 'const [a, b] = process.versions.node.split("."); +(a > 20 || (a == 20 && b >= 19))' 2>/dev/null),1)
web:
	@echo "Without pages: npm and Node.js 20.19 or newer build them ('make web'). The API and the commands need neither."
else
web: $(PAGES) ## build the pages that the program serves
endif

web/node_modules/.package-lock.json: web/package-lock.json
	@echo "Installing what builds the pages"
	@cd web && npm ci --silent
	@touch $@

$(PAGES): web/node_modules/.package-lock.json $(WEB_SOURCES)
	@echo "Building the pages"
	@cd web && npm run --silent build -- --logLevel warn

test-web: setup-test build ## test the pages in a browser against the program
	@cd web && npm run --silent check && npm run --silent test

# What runs beside or inside sandboxes: small and static.
$(BIN)/gov $(BIN)/guest $(BIN)/sandboxd &: FORCE
	@CGO_ENABLED=0 go build -ldflags='-s -w' -o $(BIN)/ ./cmd/gov ./cmd/guest ./cmd/sandboxd

# gVisor's runtime, from its Go module at the version that sandbox/gvisor/runsc/go.mod pins; some three minutes the first time. The test proves that
# its precompiled filters of system calls are those that gVisor itself would compile.
$(BIN)/runsc: $(wildcard sandbox/gvisor/runsc/*)
	@echo "Building gVisor's runsc (once, some minutes)"
	@mkdir -p $(BIN)
	@cd sandbox/gvisor/runsc && CGO_ENABLED=0 go test . && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o $@ .
	@touch $@

test: setup-test build ## do all set-up and run all tests
	@$(TOOL) gotestsum --format pkgname-and-test-fails --hide-summary skipped -- -timeout 20m ./...

# The race detector watches the parts that share memory between goroutines. The others compute on much data, which it slows
# down tenfold, hold attacks against their deadlines, or start the whole product.
UNWATCHED := governance/console governance/dataset governance/gate governance/statement
WATCHED := ./agent/... ./sandbox/... ./migrations/... ./cmd/gov/... ./cmd/guest/... ./cmd/sandboxd/... \
	$(addsuffix /...,$(addprefix ./,$(filter-out $(UNWATCHED),$(patsubst %/,%,$(wildcard governance/*/)))))

race: setup-test build ## run the tests of what shares memory under the race detector
	@$(TOOL) gotestsum --format pkgname-and-test-fails --hide-summary skipped -- -race -timeout 20m $(WATCHED)

check: lint test race test-web ## everything that continuous integration runs

bench: setup-test build ## measure, and write docs/BENCHMARKS.md
	@go run ./cmd/benchmarks

bench-sandbox: build ## measure sandboxes: create, exec, suspend, recover; into out/sandbox and docs/BENCHMARKS.md; fifteen minutes at most
	@go run ./sandbox/sandboxbench -out out/sandbox -doc docs/BENCHMARKS.md

sandbox-image: $(BIN)/gov $(BIN)/runsc ## build a Debian root for sandboxes into build/image, from packages.lock (UPDATE=1: from what Debian has now)
	@.ci/debian-packages mmdebstrap
	@sandbox/image/debian/build.sh build/image $(BIN)/gov
	@BORDEREAU_IMAGE=$(CURDIR)/build/image go test ./sandbox/image -count=1 -run TestBuiltImage

chaos: build setup-test ## kill, stop and restart the backend at every boundary of a turn; some twenty minutes
	@BORDEREAU_CHAOS=1 go test ./agent/turn -count=1 -run KillTable -v -timeout 60m | grep -vE '^(=== |        )'

soak: build setup-test ## 5,000 turns with tools over the HTTP API, by clients that come and go; nothing may be left behind
	@BORDEREAU_SOAK=5000 go test ./cmd/bordereau -count=1 -run TestSoak -v -timeout 120m

conformance: setup-test ## the official MCP conformance suite and Inspector against the MCP server
	@mkdir -p build/conformance
	@cp governance/mcpserver/conformance/package.json build/conformance/
	@npm install --no-audit --no-fund --prefix build/conformance
	@go test ./governance/mcpserver -count=1 -run TestConformance -conformance $(CURDIR)/build/conformance -timeout 20m

lint: ## formatting, static analysis, layout
	@$(TOOL) golangci-lint run ./...
	@go test -count=1 -run 'TestImportDirections|TestBinariesStayApart' .

fmt: ## format the code
	@$(TOOL) golangci-lint fmt ./...

clean: ## remove what was built and served
	rm -rf build out
