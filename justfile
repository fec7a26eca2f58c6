# The tools of the checkout's environment: . .venv/bin/activate, then `just`.

# Format, lint, and the tests that need no server.
default: format lint unit

# Format the code and mend what ruff can mend.
format:
    ruff format .
    ruff check --fix .

# Everything that is checked without running a test.
lint:
    ruff check .
    ruff format --check .
    mypy
    mypy benchmarks/*.py docs/*.py docker/*.py examples/*.py
    lint-imports
    just cypher
    just docs-check

# Hold cypher/ to the subset that both engines answer alike.
cypher:
    python -m graphstore.queries.lint

# Write the generated parts of the pages again.
docs:
    python -m cogapp -r README.md docs/api.md docs/configuration.md docs/hang.md docs/simulators.md docs/tables.md graphstore/model/README.md
    python -m graphstore.queries.page

# Execute the notebook and keep what it shows.
notebook:
    python examples/execute.py

# Fail when a generated part of a page is out of date.
docs-check:
    python -m cogapp --check README.md docs/api.md docs/configuration.md docs/hang.md docs/simulators.md docs/tables.md graphstore/model/README.md

# The tests that need no Neo4j and take no long time.
unit:
    pytest -n auto -m "not neo4j and not slow"

# The tests on a real Neo4j server: GRAPHSTORE_TEST_URI, else Docker, else jars.
neo4j:
    pytest -m neo4j

# All tests.
test:
    pytest -n auto

# Make big traces and measure; the result belongs into docs/performance.md.
scale ops="100000":
    python benchmarks/make_traces.py build/traces-{{ops}} --ops {{ops}}
    python benchmarks/run.py build/traces-{{ops}}

# Make the dumps of a big job that hangs and measure how long the answer takes.
scale-hang ranks="64" *options="":
    python benchmarks/make_dumps.py build/dumps-{{ranks}} --ranks {{ranks}}
    python benchmarks/hang.py build/dumps-{{ranks}} {{options}}

# Import a run of about 400,000 nodes and ask every question of the catalogue; `--store bolt://…` asks a server, too.
scale-queries *options="":
    python benchmarks/make_traces.py build/traces-8r --ops 34000 --ranks 8 --from ../shared/data/torch213/mid_transformer_8r
    python benchmarks/queries.py build/traces-8r {{options}}
