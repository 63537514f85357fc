"""Figures of the Linux switch, as ratios to others in the same run; docs/switch-figures.md says what they mean."""
