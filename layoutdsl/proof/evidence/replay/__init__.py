"""cvc5's proofs, followed step by step by a checker that knows neither cvc5 nor z3.

A question and a proof go in as texts. What comes back is nothing, or the step that does not follow.
The room imports nothing else of ours and no package, so that who checks proofs shares no line with
who looks for them, nor with the kernel that asks.
"""

from layoutdsl.proof.evidence.replay.follow import replay
from layoutdsl.proof.evidence.replay.terms import Refused

__all__ = ["Refused", "replay"]
