"""A pytest plugin: in continuous integration, where `CI` is set, skipped tests fail.

Untested code is not known to work. Elsewhere a machine may lack a test's requirements, and the test is skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


def _refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("CI") and report.skipped:
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} could not run, and CI is set: {why}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Handle the report of a test."""
    report = yield
    _refuse(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Handle the report of a whole module."""
    report = yield
    _refuse(report)
    return report
