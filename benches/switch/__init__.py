"""Figures of the Linux switch, as ratios to others in the same run; benches/switch/README.md says what they mean."""
