# Every target makes the virtual environment it needs, once; see CONTRIBUTING.md.
PYTHON ?= python3
BIN := .venv/bin

FUZZ ?=
OTHERS ?=
RUNS ?=

.PHONY: bench-env bench-learn bench-others bench-studio bench-train clean demo fuzz lint pretrained \
	studio test

demo: .venv/.installed
	rm -rf demo && mkdir demo
	$(BIN)/hal train treasure --out demo/run
	$(BIN)/hal eval demo/run
	$(BIN)/hal plot demo/run --text
	$(BIN)/hal plot demo/run --out demo/curves.png
	$(BIN)/hal watch demo/run --seed 3 --gif demo/episode.gif

test: lint
	$(BIN)/pytest -m jax tests/test_craftax.py tests/test_adapters.py
	$(BIN)/pytest -n 2 --dist worksteal -m "not jax" --ignore tests/test_craftax.py

studio: .venv/.installed-studio
	$(BIN)/hal studio $(RUNS)

fuzz: .venv/.installed-dev
	$(BIN)/python -m benchmarks.fuzz $(FUZZ)

lint: .venv/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench-learn: .venv/.installed
	$(BIN)/python -m benchmarks.learn

bench-others: .venv/.installed-craftax,hierarchycraft,minigrid
	$(BIN)/python -m benchmarks.others $(OTHERS)

bench-studio: .venv/.installed-dev
	$(BIN)/python -m benchmarks.studio

bench-train: .venv/.installed
	$(BIN)/python -m benchmarks.train

pretrained: .venv/.installed
	$(BIN)/python -m benchmarks.pretrained

bench-env: .venv/.installed-minigrid
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
