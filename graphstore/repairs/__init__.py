"""Findings → a `Plan` of changes with reason and evidence → written, or taken back. One module a rule.

Safe changes are proven by time or by recorded ids; unsafe ones are inferred and need asking for. A repair
never invents work and never removes a record; what cannot be proven stays a finding.
"""

from graphstore.repairs.apply import apply
from graphstore.repairs.change import Change, Plan
from graphstore.repairs.plan import plan
from graphstore.repairs.undo import undo

__all__ = ["Change", "Plan", "apply", "plan", "undo"]
