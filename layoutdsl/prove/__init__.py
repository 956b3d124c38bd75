"""Claims about layouts, for every shape: obligations, certificates, verdicts."""

from layoutdsl.prove.check import check

__all__ = ["check"]
