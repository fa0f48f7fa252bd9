# Needs only Python 3.11 or newer and make. `make help` lists what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
AUDIT := .venv-audit
SAMPLE := examples/library
PIP := $(BIN)/pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test soak lint audit bench bench-env browser fmt docs lock dist clean model

help: ## What can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Exit code 1: some files failed, and the report names them; the rest can be searched. 11: no answer.
demo: $(VENV)/runtime.stamp model ## Index the sample library and ask it: three answers with proof, and an honest no
	$(BIN)/pincite index build $(SAMPLE) || [ $$? -eq 1 ]
	$(BIN)/pincite ask --library $(SAMPLE) --claims 1 "how should boats lie in the boat basin?"
	$(BIN)/pincite ask --library $(SAMPLE) --claims 1 "what does the harbour board grant in 2026?"
	$(BIN)/pincite ask --library $(SAMPLE) --claims 1 "when does a child stand on a chair in the tide talk?"
	$(BIN)/pincite ask --library $(SAMPLE) "what is the plumber's telephone number?" || [ $$? -eq 11 ]
	@echo
	@echo "Now your own documents:"
	@echo "  . $(BIN)/activate"
	@echo "  cd ~/Documents                     # or any folder of yours"
	@echo "  pincite index build                # reads it once; the index is in ~/Documents/.index"
	@echo "  pincite ask \"when does the lease end?\""

test: $(VENV)/dev.stamp model browser ## Everything a reviewer runs: style, types, architecture, tests
	$(MAKE) --no-print-directory lint
	$(BIN)/pytest -n auto --dist worksteal

soak: $(VENV)/dev.stamp model browser ## The same tests at length: hundreds of kills, every hostile file; half an hour
	PINCITE_SOAK=1 $(BIN)/pytest -n auto --dist worksteal -rP --durations=20

lint: $(VENV)/dev.stamp ## Style, types, architecture and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src benchmarks docs *.md
	$(BIN)/cog --check docs/*.md

audit: $(VENV)/dev.stamp $(AUDIT)/audit.stamp ## Known vulnerabilities, licences, bill of materials in dist/sbom.json
	$(AUDIT)/bin/python tools/audit.py $(abspath $(BIN)/python) dist/sbom.json

bench: $(VENV)/dev.stamp model ## Speed and memory, as ratios within one run
	$(BIN)/python benchmarks/ingest.py

bench-env: $(BENCH)/bench.stamp ## An environment of its own with the engines to compare with
	@echo "Now: $(BENCH)/bin/python benchmarks/peers.py DATA_FOLDER"

# Debian's, installed where that is allowed; without one, the tests that open pages in it are skipped.
browser: ## Chromium, which the tests of what a browser shows need
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
	  >/dev/null 2>&1; } || echo "No chromium here: what a browser shows is not tested. Install it with: apt-get install chromium"

fmt: $(VENV)/dev.stamp ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/dev.stamp ## Renew the generated parts of the documentation
	$(BIN)/cog -r docs/*.md

lock: $(VENV)/dev.stamp ## Pin the dependencies anew, with hashes
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  pyproject.toml --extra eval --group build -o requirements/runtime.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  pyproject.toml --extra remote --extra ocr --extra eval --extra embedded --group build --group dev -c requirements/runtime.txt -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --upgrade --no-deps --universal --python-version 3.11 --generate-hashes --no-header \
	  --group llm -o requirements/llm.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  pyproject.toml --extra eval --group build --group bench -c requirements/runtime.txt -o requirements/bench.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  --group audit -o requirements/audit.txt

dist: $(VENV)/runtime.stamp ## Build a wheel to install elsewhere, and a source archive
	rm -rf dist
	$(BIN)/hatchling build

clean: ## Remove the environment, what was built and the sample library's index
	rm -rf $(VENV) $(BENCH) $(AUDIT) dist $(SAMPLE)/.index

model:
	@$(BIN)/pincite models prepare

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/runtime.stamp: requirements/runtime.txt pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes --no-deps -r requirements/runtime.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt requirements/llm.txt pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes --no-deps -r requirements/dev.txt -r requirements/llm.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/runtime.stamp

$(BENCH)/bench.stamp: requirements/bench.txt | $(BIN)/python
	$(BIN)/python -m venv $(BENCH)
	$(BENCH)/bin/pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r requirements/bench.txt
	$(BENCH)/bin/pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

$(AUDIT)/audit.stamp: requirements/audit.txt | $(BIN)/python
	$(BIN)/python -m venv $(AUDIT)
	$(AUDIT)/bin/pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r requirements/audit.txt
	@touch $@
