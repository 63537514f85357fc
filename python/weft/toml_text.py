"""Python values as TOML."""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from .errors import ScenarioError


def value(given: Any, key: str = "value") -> str:
    """A plain value in one line; numbers and arrays of NumPy are those of Python, paths are texts.

    Raises:
        ScenarioError: It is None, or of a type that TOML does not have; the message names the `key`.
    """
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, (list, tuple, range)):
        return "[" + ", ".join(value(item, key) for item in given) + "]"
    if isinstance(given, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {value(v, f'{key}.{k}')}" for k, v in given.items()) + "}"
    if isinstance(given, (int, float)):
        return repr(given)
    if isinstance(given, (str, PurePath)):
        return json.dumps(str(given), ensure_ascii=False)
    if given is None:
        raise ScenarioError(f"`{key}` is None, which a scenario cannot contain: leave the key out")
    raise ScenarioError(f"`{key}` is a {type(given).__name__}: give a number, a text, a list or a dictionary")


def document(given: Mapping[str, Any]) -> str:
    """A dictionary as TOML: a table for each dictionary in it, an array of tables for each list of dictionaries.

    Raises:
        ScenarioError: As `value`.
    """
    plain: list[str] = []
    tables: list[str] = []
    for key, content in given.items():
        name = _key(key)
        if isinstance(content, Mapping):
            tables.append(_table(f"[{name}]", content, key))
        elif isinstance(content, (list, tuple)) and content and all(isinstance(one, Mapping) for one in content):
            tables += [_table(f"[[{name}]]", one, key) for one in content]
        else:
            plain.append(f"{name} = {value(content, key)}\n")
    return "\n".join(filter(None, ["".join(plain), *tables]))


def _table(head: str, content: Mapping[str, Any], key: str) -> str:
    return f"{head}\n" + "".join(f"{_key(name)} = {value(one, f'{key}.{name}')}\n" for name, one in content.items())


def _key(name: Any) -> str:
    text = str(name)
    bare = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    return text if bare else json.dumps(text, ensure_ascii=False)
