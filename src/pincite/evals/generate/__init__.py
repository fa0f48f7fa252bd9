"""Questions drafted from a library's own documents, for someone to confirm. Start at flow.py."""

from pincite.evals.generate.flow import draft_cases

__all__ = ["draft_cases"]
