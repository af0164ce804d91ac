# What one types at sessionbank. A fresh machine needs Python >= 3.11 with venv, git and make; the first target that
# needs packages makes .venv and installs what constraints.txt pins. `make PYTHON=python3.12 test` picks the Python.

HERE := $(dir $(lastword $(MAKEFILE_LIST)))

# The first Python on the path that is new enough. A launcher that is there but does not start (pyenv) is passed over.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
VERSION := $(shell "$(PYTHON)" -c 'import sys; print(sys.version.split()[0])' 2>/dev/null)

VENV := $(HERE).venv
# A stamp names the Python that it was made with, so another PYTHON makes .venv anew.
RUN_STAMP := $(VENV)/.run-$(VERSION)
DEV_STAMP := $(VENV)/.dev-$(VERSION)
LAB_STAMP := $(VENV)/.lab-$(VERSION)
DECLARED := $(HERE)pyproject.toml $(HERE)constraints.txt

# Recipes run in the checkout, whatever folder make was called from.
IN := cd "$(HERE)" &&
BIN := .venv/bin
# Twice quiet: errors only. pip's warnings tell of the machine's own settings.
# compat: the package is found by a plain path, also from a folder that holds a folder named sessionbank.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --config-settings editable_mode=compat

.PHONY: help demo test lint format docs site bench checkers lab lock clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   the main job on the sample bank; writes out/demo/"
	@echo "make test   tests, then the notebooks against their stored outputs"
	@echo "make lint   ruff, mypy, import layers, house rules (make format mends what ruff can)"
	@echo "make docs   write docs/tables.md from the schema"
	@echo "make site   build the documentation site into out/site"
	@echo "make bench  run the scripts of benchmarks/"
	@echo "make checkers  let other programs read our exports; writes docs/checkers.md"
	@echo "make lab    open the notebooks in JupyterLab"
	@echo "make lock   write constraints.txt anew"
	@echo "make clean  remove .venv, caches and out/"

demo: $(RUN_STAMP)
	@$(IN) $(BIN)/sessionbank demo

# All parts are always run, so that one run tells all.
test: $(DEV_STAMP)
	@$(IN) failed=0; \
	$(BIN)/python -m pytest -n 2 --dist loadscope tests || failed=1; \
	$(BIN)/python -m pytest -n 2 --dist loadscope --nbval --nbval-current-env --nbval-cell-timeout=120 \
		--nbval-sanitize-with notebooks/nbval-sanitize.cfg notebooks || failed=1; \
	exit $$failed

lint: $(DEV_STAMP)
	@$(IN) failed=0; \
	$(BIN)/ruff check --output-format concise . || failed=1; \
	$(BIN)/ruff format --check --output-format concise . || failed=1; \
	$(BIN)/mypy || failed=1; \
	$(BIN)/lint-imports --no-cache || failed=1; \
	$(BIN)/python scripts/house.py || failed=1; \
	exit $$failed

format: $(DEV_STAMP)
	@$(IN) $(BIN)/ruff check --fix .
	@$(IN) $(BIN)/ruff format .

docs: $(RUN_STAMP)
	@$(IN) mkdir -p docs && $(BIN)/python -c 'from sessionbank import schema; print(schema.markdown(), end="")' >docs/tables.md

site: $(DEV_STAMP)
	@$(IN) NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(DEV_STAMP)
	@$(IN) for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

checkers: $(DEV_STAMP)
	@$(IN) $(BIN)/python checkers/run.py --all --write docs/checkers.md

lab: $(LAB_STAMP)
	@$(IN) $(BIN)/jupyter lab notebooks

lock:
	@$(IN) PYTHON="$(or $(shell "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo "$(PYTHON)"),python3.11)" scripts/lock.sh

clean:
	@$(IN) rm -rf .venv build out *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@$(IN) find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A .venv of the same Python is kept and only topped up; one of another Python is laid anew.
define venv
	@test -n "$(VERSION)" || { echo "no Python >= 3.11 found: install one, or name it, as in: make PYTHON=python3.12 test" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sessionbank needs Python >= 3.11, this is $(VERSION)" >&2; exit 1; }
	@$(IN) { test "$$($(BIN)/python -c 'import sys; print(sys.version.split()[0])' 2>/dev/null)" = "$(VERSION)" \
		|| "$(PYTHON)" -m venv --clear .venv; }
endef

$(RUN_STAMP): $(DECLARED)
	$(venv)
	@echo "installing sessionbank into .venv (Python $(VERSION))"
	@$(IN) $(INSTALL) -e .
	@touch "$@"

$(DEV_STAMP): $(DECLARED)
	$(venv)
	@echo "installing sessionbank and its tests into .venv (Python $(VERSION))"
	@$(IN) $(INSTALL) -e '.[dev]'
	@touch "$@" "$(RUN_STAMP)"

$(LAB_STAMP): $(DEV_STAMP)
	@echo "installing JupyterLab into .venv"
	@$(IN) $(INSTALL) -e '.[lab]'
	@touch "$@"
