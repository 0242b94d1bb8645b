# Every command of the project. A bare `make` lists them.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
# Compiled loops outlive this checkout: a fresh clone compiles only what has changed.
export NUMBA_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/entrycache
.PHONY: help environment conform test test-all static rules unit long matrix nightly bench docs site clean
.PHONY: evidence findings dist licences sbom extras-lowest hypothesis-lowest

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

environment: .venv/.ready ## make .venv with all that the project's own tests need

.venv/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "entrycache: python3 is missing or older than 3.11; install Python 3.11 or say PYTHON=/path" >&2; exit 4; }
	@echo "making .venv (Spark is large: this takes some minutes the first time)" >&2
	@$(PYTHON) -m venv .venv && $(BIN)/pip install -q --disable-pip-version-check -e '.[dev]' || \
	  { echo "entrycache: the Python packages could not be installed; see pip's last line (is there a network?)" >&2; exit 4; }
	@touch $@

conform: environment ## conformance of our caches and, with Maven, of a released jar; a trace, its audit; the evidence
	@$(BIN)/python -m entrycache_dev.demo --out build/conform

test: environment ## everything that a pull request must pass
	@$(MAKE) -j 2 static rules
	@$(MAKE) unit
	@$(MAKE) hypothesis-lowest
	@$(BIN)/python -m entrycache_dev.demo --short --strict

# `long` holds all that `findings` runs.
test-all: test long ## all of `make test`, the tests that take longer, and every change of the mutation matrix
	$(BIN)/python -m entrycache_dev.matrix

static: environment ## types and style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A worker that dies ends the run: one that is begun again can leave the others waiting for ever.
SHARED := --dist loadfile --no-loadscope-reorder --max-worker-restart 0

unit: environment ## the tests of our own code
	$(BIN)/python -m pytest -q $(SHARED) -n 2 -m "not long"

long: environment ## the tests that `make test` leaves out, and every release as long as the newest
	$(BIN)/python -m pytest -q $(SHARED) -n 2 -m long
	@$(BIN)/python -m entrycache_dev.demo --profile ci --strict

findings: environment ## every fix of a finding, judged by its page's tests, by a run of the suite and by upstream's unit tests
	$(BIN)/python -m pytest -v $(SHARED) -n 2 tests/findings/test_fixes.py tests/findings/test_upstream_tests.py

matrix: environment ## which detector sees which small change of the reference; half an hour of two cores
	$(BIN)/python -m entrycache_dev.matrix --write

nightly: environment ## the long runs
	.ci/nightly

bench: environment ## speed, as ratios measured in one run
	$(BIN)/python -m entrycache_dev bench

rules: environment ## text, code, tests, examples and seeded faults agree
	$(BIN)/entrycache rules --check

docs: evidence ## all of `make evidence`, and the results of seeded faults; the pages of settings and versions
	$(BIN)/python -m entrycache_dev.pages.faults
	$(BIN)/python -m entrycache_dev.pages.settings
	$(BIN)/entrycache versions --write docs/reference/versions.md
	$(BIN)/entrycache versions --results docs/campaigns/kafka-streams --write docs/reference/versions-kafka-streams.md
	$(BIN)/entrycache versions --results docs/campaigns/pulsar-legacy --write docs/reference/versions-pulsar-legacy.md

evidence: environment ## obtain all formal evidence again: 15 minutes of two cores, for a maintainer
	$(BIN)/python -m entrycache_dev.pages.evidence
	$(BIN)/python -m entrycache_dev.pages.model_counts ci --soonest --missing

site: environment ## the pages of docs/, spec/ and a page a rule as a site in build/site; needs no network
	$(BIN)/python -m entrycache_dev.pages.site build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html"

dist: environment ## a wheel, and the sources that it is built from, in dist; nothing is published
	$(BIN)/python -m build --outdir dist .

licences: environment ## the licence of every package that is installed; fails on one that pyproject.toml does not allow
	$(BIN)/pip-licenses

# Outside .venv: its packages make every import of jsonschema take a second and a half.
sbom: environment ## dist/sbom.json (CycloneDX): every package of .venv, with version and licence
	@mkdir -p dist
	$(BIN)/uv tool run -q --from 'cyclonedx-bom>=7,<8' cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible -o dist/sbom.json

LOWEST := tests/trace/test_format.py tests/spark/test_violations.py tests/packaging/test_extras.py tests/cli/test_usage.py

extras-lowest: environment ## tests with the oldest version of each package that pyproject.toml lets in
	$(BIN)/uv venv -q --allow-existing -p $(BIN)/python .venv-lowest
	$(BIN)/uv pip install -q --python .venv-lowest/bin/python --resolution lowest-direct \
	  -e '.[trace,spark,prove,bench,league,spring,docs]' 'pytest>=8.4' 'pytest-timeout>=2.4' 'packaging>=24'
	.venv-lowest/bin/python -m pytest -q -p no:cacheprovider -m "not long" $(LOWEST) $(MACHINES)

MACHINES := tests/conformance/test_state_machine.py tests/fast/test_machines.py
OLD_HYPOTHESIS := build/hypothesis-lowest

hypothesis-lowest: environment ## quick tests of the state machines with the oldest version of Hypothesis that is let in
	$(BIN)/uv pip install -q --python $(BIN)/python --target $(OLD_HYPOTHESIS) --resolution lowest-direct \
	  "$$(sed -n 's/^ *"\(hypothesis>=[^"]*\)",/\1/p' pyproject.toml)"
	PYTHONPATH=$(CURDIR)/$(OLD_HYPOTHESIS) $(BIN)/python -m pytest -q -p no:cacheprovider -k "failure or seed or skipped or own" $(MACHINES)

clean: ## take away what these commands made
	rm -rf .venv .venv-lowest dist build entrycache-audit entrycache-failures .mypy_cache .ruff_cache .pytest_cache .hypothesis
