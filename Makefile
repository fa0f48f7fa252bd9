# Needs only Python 3.11 or newer and make. `make help` lists what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SAMPLE := examples/library
PIP := $(BIN)/pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench fmt docs lock clean model

help: ## What can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/runtime.stamp model ## Index the sample library and search it
	$(BIN)/pincite index build $(SAMPLE)
	$(BIN)/pincite search --library $(SAMPLE) --top-k 1 "how often does the buoy send its data?"
	$(BIN)/pincite search --library $(SAMPLE) --top-k 1 "how should boats lie in the boat basin?"
	$(BIN)/pincite search --library $(SAMPLE) --top-k 1 "why does the sea glow when you stir it?"

test: $(VENV)/dev.stamp model ## Everything a reviewer runs: style, types, architecture, tests
	$(MAKE) --no-print-directory lint
	$(BIN)/pytest -n auto

lint: $(VENV)/dev.stamp ## Style, types, architecture and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src benchmarks docs *.md
	$(BIN)/cog --check docs/*.md

bench: $(VENV)/dev.stamp model ## Speed and memory, as ratios within one run
	$(BIN)/python benchmarks/ingest.py

fmt: $(VENV)/dev.stamp ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/dev.stamp ## Renew the generated parts of the documentation
	$(BIN)/cog -r docs/*.md

lock: $(VENV)/dev.stamp ## Pin the dependencies anew, with hashes
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  pyproject.toml --group build -o requirements/runtime.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  pyproject.toml --extra remote --extra ocr --group build --group dev -c requirements/runtime.txt -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --upgrade --no-deps --universal --python-version 3.11 --generate-hashes --no-header \
	  --group llm -o requirements/llm.txt

clean: ## Remove the environment and the sample library's index
	rm -rf $(VENV) $(SAMPLE)/.index

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
