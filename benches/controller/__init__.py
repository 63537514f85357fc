"""Figures of the OpenFlow controller under load; docs/controller-figures.md says what they mean."""
