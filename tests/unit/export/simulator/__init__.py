"""Tests of graphstore/export/simulator."""
