"""A scenario on another fabric than its own."""

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from .catalogue import schema
from .errors import ScenarioError
from .scenario import Scenario


def on_file(scenario: Scenario, path: Path, given: Collection[str] = ()) -> Scenario:
    """The scenario on the fabric of a file; the keys of its topology, such as `kind` and `k`, are left out.

    So are the keys in `given`, which every link of the file has.

    Raises:
        ScenarioError: The scenario is not valid TOML, or has a key about the rates or delays of a part of its topology.
    """
    try:
        own: Any = tomllib.loads(scenario.text).get("fabric", {})
    except tomllib.TOMLDecodeError:
        scenario.points()
        raise
    of_files, of_shapes = _keys()
    kept = {"file": str(path)}
    left_out = {"file", *given}
    for key, value in own.items() if isinstance(own, dict) else ():
        if key in of_files:
            kept |= {} if key in left_out else {key: value}
        elif of_shapes.get(key) == "string" and key.rpartition("_")[2] not in given:
            raise ScenarioError(
                f"`fabric.{key}` belongs to the topology `{own.get('kind')}`, which another fabric replaces: give the "
                "links of that fabric their rates and delays, and leave the key out"
            )
        elif key not in of_shapes:
            kept[key] = value
    counts = (key for key, kind in of_shapes.items() if key not in of_files and kind != "string")
    ignored = {"fabric.file", *(f"fabric.{key}" for key in counts)}
    later = [change for change in scenario.sets if change.partition("=")[0].strip() not in ignored]
    return Scenario(scenario.text, scenario.name, scenario.base_dir).set("fabric", kept).with_sets(later)


def _keys() -> tuple[set[str], dict[str, str]]:
    """The keys of ``[fabric]`` that apply to a file, and those of all topologies with their types."""
    of_files: set[str] = set()
    of_shapes: dict[str, str] = {"kind": "name"}
    for kind in schema()["properties"]["fabric"]["oneOf"]:
        if "file" in kind["properties"]:
            of_files |= kind["properties"].keys()
        else:
            of_shapes |= {key: str(one.get("type")) for key, one in kind["properties"].items() if key != "kind"}
    return of_files, of_shapes
