# Every target makes the virtual environment it needs, once; see CONTRIBUTING.md.
PYTHON ?= python3
BIN := .venv/bin

FUZZ ?=
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

bench-others: .venv/.installed-crafter,minigrid
	$(BIN)/python -m benchmarks.learn --out results/others --steps 300000 --every 25000 \
		--episodes 100 --seeds 0 1 2 --methods hal hr+her rainbow \
		--tasks minigrid/BlockedUnlockPickup minigrid/KeyCorridorS3R3
	$(BIN)/python -m benchmarks.crafter

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
