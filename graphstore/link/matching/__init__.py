"""The calls of all ranks side by side: what is incomplete, who waits for whom, and why (matching.md).

In:  the calls that Flight Recorder dumps, execution traces or Kineto traces recorded, a `RankDump` per file.
Out: `Matching`: per job the groups, a verdict per collective and per edge of sends, waits, causes, notes.
The rule above all rules: say only what the files prove. Order of the steps: matching.py; what goes in and
comes out: model.py; what is told of it: evidence.py.
"""
