"""The command line: a module a verb; app.py puts them together."""
