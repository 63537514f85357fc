"""The studies: reproductions of papers, whose claims are checked against the results.

`registry` lists all of them; importing it is slow.
"""

from __future__ import annotations

from .base import Size, Study, StudyRow, Verdict

__all__ = ["Size", "Study", "StudyRow", "Verdict"]
