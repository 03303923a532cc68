# One virtual environment, two levels of it: what the demo needs, and everything the checks need.
# Each level has a stamp that goes stale with the lock file or pyproject.toml.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq

.PHONY: help demo test test-models lint bench lock clean

help:
	@echo "make demo   build the dataset from the bundled corpus into demo/ and show three pairs"
	@echo "make test   ruff, mypy and all tests"
	@echo "make test-models   the tests of tokenizer and models, in an environment with torch (\$$(VENV)-models)"
	@echo "make lint   ruff and mypy only"
	@echo "make bench  the benchmarks, one after the other"
	@echo "make lock   write the two lock files anew (UPGRADE=--upgrade takes newer versions)"
	@echo "make clean  remove what these targets and the tools leave behind"
	@echo "PYTHON=python3.12 chooses the interpreter, VENV=folder the environment."

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The dataset part alone, at the lock's versions: what a user of the package installs.
$(VENV)/.demo: pyproject.toml requirements.lock | $(BIN)/python
	$(PIP) install --constraint requirements.lock --editable '.[data]'
	@touch $@

$(VENV)/.dev: pyproject.toml requirements.lock | $(BIN)/python
	$(PIP) install --requirement requirements.lock
	$(PIP) install --no-deps --editable .
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/spider-compose build --out demo/spider_compose
	$(BIN)/spider-compose inspect demo/spider_compose --limit 3
	$(BIN)/spider-compose inspect demo/spider_compose --html demo/inspect.html --limit 1000
	@echo
	@echo "The dataset lies in demo/spider_compose: load_dataset('demo/spider_compose') reads it."
	@echo "The page with its pairs is demo/inspect.html: open it in a browser."

test: lint
	$(BIN)/python -m pytest

# Apart from the other tests: torch takes gigabytes where only its CUDA build is offered.
$(VENV)-models/.dev: pyproject.toml requirements-models.lock
	$(PYTHON) -m venv $(VENV)-models
	$(VENV)-models/bin/python -m pip --disable-pip-version-check -qq install --requirement requirements-models.lock
	$(VENV)-models/bin/python -m pip --disable-pip-version-check -qq install --no-deps --editable .
	@touch $@

test-models: $(VENV)-models/.dev
	$(VENV)-models/bin/python -m pytest tests/tokenization tests/models

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	@set -e; for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script; done

# uv resolves for all supported Python versions at once; the lines it writes hold no addresses.
lock: | $(BIN)/python
	@$(PIP) install 'uv>=0.9'
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --no-annotate $(UPGRADE) \
	    --extra data --extra metric --extra plots --extra evaluation --extra dev --custom-compile-command 'make lock' \
	    --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate $(UPGRADE) \
	    --constraint requirements.lock --extra models --extra dev --custom-compile-command 'make lock' \
	    --output-file requirements-models.lock pyproject.toml

clean:
	rm -rf $(VENV) $(VENV)-models demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
