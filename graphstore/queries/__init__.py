"""The catalogue of statements, running them, and the findings of the checks."""

from graphstore.queries.catalog import Query, catalog, get
from graphstore.queries.findings import Finding, check, findings_of, write_findings
from graphstore.queries.run import read_parameters, run_any, run_query

__all__ = [
    "Finding",
    "Query",
    "catalog",
    "check",
    "findings_of",
    "get",
    "read_parameters",
    "run_any",
    "run_query",
    "write_findings",
]
