# Every target sets up .venv by itself; python3 (3.11 to 3.14) and make are all it needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint prove patients differential bench clean

demo: $(READY)  ## the whole examination on the built-in pair: a TUI on a terminal, else text
	@$(BIN)/mtpdoctor --demo

test: lint  ## what CI runs, in under ten minutes on two cores
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

prove: $(READY)  ## the long suites; each writes a dated table under docs/proofs/
	$(BIN)/python tests/prove/mutated_headers.py
	$(BIN)/python tests/prove/flag_table.py
	$(BIN)/python tests/prove/steady_demo.py
	$(BIN)/python tests/prove/mutation.py

differential: $(READY)  ## every generated pair and command, judged and run on each llama-server
	$(BIN)/python tests/differential/run.py --write

patients: $(READY)  ## field reports and sound commands: who is judged rightly, as a table
	$(BIN)/python tests/patients/ward.py

bench: $(READY)  ## ratios measured side by side in one run, as a table
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mtpdoctor needs Python 3.11 or newer; name one with make PYTHON=…")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[demo]' --group dev
	@touch $@

clean:
	rm -rf .venv build dist
