# Every target makes the virtual environment it needs, once; see CONTRIBUTING.md.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench-env bench-learn bench-train clean

demo: .venv/.installed
	$(BIN)/hal play treasure --scripted --text --seed 3 --gif demo.gif

test: lint
	$(BIN)/pytest -n 2

lint: .venv/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench-learn: .venv/.installed
	$(BIN)/python -m benchmarks.learn

bench-train: .venv/.installed
	$(BIN)/python -m benchmarks.train

bench-env: .venv/.installed-bench
	$(BIN)/python -m benchmarks.env

clean:
	rm -rf .venv

$(BIN)/python:
	$(PYTHON) -m venv .venv

.venv/.installed: $(BIN)/python pyproject.toml
	$(BIN)/pip install --quiet -e .
	touch $@

.venv/.installed-%: $(BIN)/python pyproject.toml
	$(BIN)/pip install --quiet -e ".[$*]"
	touch $@ .venv/.installed
