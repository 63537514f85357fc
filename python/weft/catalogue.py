"""The engine's catalogue: schemes, transport profiles, flow sizes, the controller's settings, the scenarios' schema."""

import json
from typing import Any

from . import _weft


def schemes() -> list[dict[str, Any]]:
    """The switching schemes: summaries, parameters, needs, exploration, modes of the Linux switch."""
    return _listed(_weft.schemes())


def congestion_controls() -> list[dict[str, Any]]:
    """TCP's congestion controllers by name; those of plugins with summary and parameters."""
    return _listed(_weft.congestion_controls())


def profiles() -> list[dict[str, Any]]:
    """The transport profiles, with all parameters."""
    return _listed(_weft.profiles())


def distributions() -> list[dict[str, Any]]:
    """The built-in flow-size distributions."""
    return _listed(_weft.distributions())


def controller_settings() -> dict[str, dict[str, Any]]:
    """The settings of the controller's core by name: kind, default, range and meaning."""
    return {setting["name"]: setting for setting in _listed(_weft.controller_settings())}


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    answer: dict[str, Any] = json.loads(_weft.schema())
    return answer


def _listed(text: str) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = json.loads(text)
    return answer
