# The whole developer interface: check, test, test-all, demo, bench, docs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

export OMP_NUM_THREADS ?= 1
export XLA_FLAGS ?= --xla_cpu_multi_thread_eigen=false
export NO_MKDOCS_2_WARNING := 1

.PHONY: check test test-all demo bench docs clean

check: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Every capability, in minutes.
test: $(VENV)/dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow" --durations=20

# Everything: the slow ones after the others.
test-all: test
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m slow --durations=20

demo: $(VENV)/base
	$(BIN)/python examples/compare_agents.py --plot out/demo.png

bench: $(VENV)/bench
	$(BIN)/langevin-dqn bench --out out/bench

docs: $(VENV)/dev
	$(BIN)/mkdocs build --strict --site-dir out/site

# What a target needs, each version with its hashes (tools/lock.py), and the package itself.
$(VENV)/base: requirements/base.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r $<
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/dev: requirements/dev.txt $(VENV)/base
	$(PIP) --require-hashes -r $<
	touch $@

# torch by itself: its builds for CPU and CUDA have one version and different hashes.
$(VENV)/bench: requirements/bench.txt $(VENV)/base
	$(PIP) torch==2.13.0
	$(PIP) --require-hashes -r $<
	touch $@

clean:
	rm -rf $(VENV) out
