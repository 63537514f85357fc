"""``scripts/check_circles.py`` finds the modules that use each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from check_circles import circles, python_uses
from rust_modules import Crate


def _written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _names(folder: Path, found: list[list[Path]]) -> list[set[str]]:
    return [{path.relative_to(folder).as_posix() for path in way} for way in found]


@pytest.mark.parametrize(
    ("one", "other", "circle"),
    [
        ("from .b import B", "from .a import A", True),
        ("import house.b", "import house.a", True),
        ("from . import b", "def f():\n    from .a import A", True),
        ("from . import b", "if TYPE_CHECKING:\n    from house import a", True),
        ("from . import b", "from importlib import import_module\nimport_module('house.a')", True),
        ("from .b import B", "from . import name", False),
        ("from .b import B", "import os", False),
    ],
)
def test_imports_count_wherever_they_stand(tmp_path, one, other, circle):
    house = _written(tmp_path / "house", {"__init__.py": "name = 1", "a.py": one, "b.py": other})
    assert _names(house, circles(python_uses(house))) == ([{"a.py", "b.py"}] if circle else [])


def test_only_what_is_taken_from_a_package_uses_its_init(tmp_path):
    files = {"__init__.py": "from .room.a import A", "room/__init__.py": "", "room/a.py": "from .. import name"}
    house = _written(tmp_path / "house", files)
    assert _names(house, circles(python_uses(house))) == [{"__init__.py", "room/a.py"}]
    (house / "room" / "a.py").write_text("from ..b import B")
    (house / "b.py").write_text("")
    assert circles(python_uses(house)) == []


def test_the_shortest_circle_of_every_import_is_found(tmp_path):
    files = {"__init__.py": "", "a.py": "from . import b", "b.py": "from . import c", "c.py": "from . import a, b"}
    house = _written(tmp_path / "house", files)
    assert _names(house, circles(python_uses(house))) == [{"b.py", "c.py"}, {"a.py", "b.py", "c.py"}]


@pytest.mark.parametrize(
    ("one", "other", "circle"),
    [
        ("use crate::b::B;", "use crate::a::A;", True),
        ("use crate::b::{self, B};", "use super::{a::A, name};", True),
        ("use super::b;\nfn f() { b::g() }", "fn g() { crate::a::f() }", True),
        ("use crate::b::B;", "use crate::A;", True),
        ("use crate::b::B;", "use crate::*;\nfn f(a: super::A) {}", True),
        ("use crate::b::B;", "use crate::name;", False),
        ("use crate::b::B;", "// crate::a::A", False),
        ("use crate::b::B;", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}", False),
        ("use crate::b::B;", "mod inner {\n    use super::B;\n}", False),
    ],
)
def test_paths_of_rust_lead_to_the_file_that_defines(tmp_path, one, other, circle):
    root = "mod a;\nmod b;\npub use a::A;\nfn name() {}"
    crate = _written(tmp_path, {"lib.rs": root, "a.rs": f"{one}\nstruct A;", "b.rs": f"{other}\nstruct B;"})
    # The root uses `a`, and `name` is defined there: not of interest here.
    uses = {file: used for file, used in Crate(crate).uses().items() if file.name != "lib.rs"}
    assert _names(crate, circles(uses)) == ([{"a.rs", "b.rs"}] if circle else [])
