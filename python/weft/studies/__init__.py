"""The studies: papers whose scenarios are run again and whose claims are held against the results.

`registry` has all of them; they take long to import.
"""

from __future__ import annotations

from .base import Size, Study, StudyRow, Verdict

__all__ = ["Size", "Study", "StudyRow", "Verdict"]
