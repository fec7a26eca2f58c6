"""The catalogue of statements, running them, and the findings of the checks."""

from graphstore.queries.catalog import Query, catalog, get, listed
from graphstore.queries.findings import Checked, Finding, check, findings_of, run_checks, write_findings
from graphstore.queries.run import (
    is_over_runs,
    read_parameters,
    run_any,
    run_any_over_archive,
    run_over_archive,
    run_query,
)
from graphstore.queries.search import search

__all__ = [
    "Checked",
    "Finding",
    "Query",
    "catalog",
    "check",
    "findings_of",
    "get",
    "is_over_runs",
    "listed",
    "read_parameters",
    "run_any",
    "run_any_over_archive",
    "run_checks",
    "run_over_archive",
    "run_query",
    "search",
    "write_findings",
]
