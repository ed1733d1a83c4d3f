# Every target does its own set-up: a virtual environment in .venv with locked dependencies, servers when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.installed-demo
SHARED ?= ../shared
DATA ?= $(SHARED)/data
ROOT ?= .factstream


.PHONY: faults-short faults-embedded help demo demo-stack test cases-embedded lint unit integration cases faults bench install clean

help:
	@echo "make demo      see what it does, in one process on one file (KEEP=1 leaves it running)"
	@echo "make demo-stack   the same on real servers: Kafka, Neo4j and every service"
	@echo "make test      lint, types, layout, unit and integration tests"
	@echo "make faults-short   the short form of the fault runs, about ten minutes"
	@echo "make cases     the black-box cases of $(SHARED)/cases against the real stack"
	@echo "make faults    kill, freeze and starve workers, Kafka, Neo4j and the model; prints what was lost (nothing)"
	@echo "make faults-embedded   kill processes that use one graph file, a hundred times"
	@echo "make bench     the measurements of bench/"
	@echo "make clean     remove .venv and the local stack's folder"

install: $(STAMP)

$(STAMP): pyproject.toml requirements-dev.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements-dev.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@ $(DEMO_STAMP)

# Less than half of it: no Java, no tools. The versions are those of the whole.
$(DEMO_STAMP): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

demo: $(DEMO_STAMP)
	@FACTSTREAM_GATEWAY_PORT=0 FACTSTREAM_SEARCH_PORT=0 $(BIN)/factstream demo --embedded --root $(ROOT)/demo $(if $(KEEP),--keep)

demo-stack: $(STAMP)
	@FACTSTREAM_GATEWAY_PORT=0 FACTSTREAM_SEARCH_PORT=0 FACTSTREAM_WORKER_PORT=0 \
		$(BIN)/factstream demo --root $(ROOT)/demo $(if $(KEEP),--keep)

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/python -m pytest -q -m "not integration and not faults" tests

integration: $(STAMP)
	$(BIN)/python -m pytest -q -m "integration and not faults" tests

test: lint $(STAMP)
	$(BIN)/python -m pytest -q -m "not faults" tests

cases: $(STAMP)
	$(BIN)/python -m tests.cases --shared $(SHARED) --root $(ROOT)/cases $(ARGS)

cases-embedded: $(STAMP)
	$(BIN)/python -m tests.cases_embedded --shared $(SHARED) $(ARGS)

faults-short: $(STAMP)
	FAULTS=short FAULTS_REPORT=$(ROOT)/faults-short.md $(BIN)/python -m pytest -q -m faults -n 2 --dist worksteal $(ARGS) tests/faults

faults: $(STAMP)
	FAULTS=full FAULTS_REPORT=$(ROOT)/faults.md $(BIN)/python -m pytest -q -m faults -n 3 --dist worksteal $(ARGS) tests/faults

faults-embedded: $(STAMP)
	KILLS=100 $(BIN)/python -m pytest -q $(ARGS) tests/unit/memory/test_processes.py

bench: $(STAMP)
	$(BIN)/python -m bench.spine --root $(ROOT)/bench

clean:
	rm -rf $(VENV) $(ROOT)

.PHONY: lock
.PHONY: tables
tables: $(STAMP)
	$(BIN)/python docs/tables.py

lock:
	$(BIN)/python -m pip install -q pip-tools
	$(BIN)/pip-compile -q --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --strip-extras --no-header \
		--annotation-style=line --extra stack --extra local --extra mcp --extra dev -o requirements-dev.lock pyproject.toml
	$(BIN)/pip-compile -q --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --strip-extras --no-header \
		--annotation-style=line --extra local -c requirements-dev.lock -o requirements.lock pyproject.toml
	sed -i 's/-c requirements-dev.lock, //' requirements.lock
