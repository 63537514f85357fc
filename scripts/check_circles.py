"""Finds modules that use each other, directly or over others: in `python/weft`, and the files of each crate.

Prints each circle with the lines that import. Imports within functions and under `TYPE_CHECKING` count: a reader must
know that code, too. That Python runs a package's `__init__` before its modules does not count, only imported names.

    python scripts/check_circles.py             # python/weft and all crates, as in `make style`
    python scripts/check_circles.py transport   # these
"""

import ast
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from rust_modules import Crate

ROOT = Path(__file__).parents[1]

Uses = Mapping[Path, Mapping[Path, int]]
"""The files that each file uses, with the first line that does."""


def python_uses(package: Path) -> dict[Path, dict[Path, int]]:
    """The modules of a Python package that its modules import."""
    files = {_dotted(file, package): file for file in [*package.rglob("*.py"), *package.rglob("*.pyi")]}
    found: dict[Path, dict[Path, int]] = {}
    for name, file in files.items():
        lines = found.setdefault(file, {})
        base = name if file.stem == "__init__" else name.rpartition(".")[0]
        for node in ast.walk(ast.parse(file.read_text())):
            for imported in _imported(node, base):
                module = imported
                while module and module not in files:
                    module = module.rpartition(".")[0]
                if module and module != name:
                    lines.setdefault(files[module], node.lineno)
    return found


def _dotted(file: Path, package: Path) -> str:
    """The name of a module, as in ``weft.cli``."""
    return ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")


def _imported(node: ast.AST, base: str) -> list[str]:
    """The names that a statement of a module in the package `base` imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        parts = base.split(".")[: -node.level + 1 or None] if node.level else []
        lead = ".".join([*parts, *filter(None, [node.module])])
        return [f"{lead}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "import_module":
        return [part.value for part in node.args[:1] if isinstance(part, ast.Constant)]
    return []


def circles(uses: Uses) -> list[list[Path]]:
    """For every use that is part of a circle, the shortest such circle; shortest ones first."""
    found: dict[frozenset[Path], list[Path]] = {}
    for user, used in uses.items():
        for first in used:
            way = _way(uses, first, user)
            if way:
                found.setdefault(frozenset(way), way)
    return sorted(found.values(), key=lambda way: (len(way), way))


def _way(uses: Uses, start: Path, end: Path) -> list[Path]:
    """The shortest way from `end` back to it over `start`, without its end; empty if there is none."""
    came = {start: end}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        if at == end:
            way = [came[at]]
            while way[-1] != end:
                way.append(came[way[-1]])
            return way[::-1]
        for used in uses.get(at, ()):
            if used not in came:
                came[used] = at
                queue.append(used)
    return []


def lines(uses: Uses, way: list[Path]) -> Iterator[str]:
    """A circle for readers, a use per line."""
    yield f"{len(way)} files use each other:"
    for user, used in zip(way, [*way[1:], way[0]], strict=True):
        yield f"  {user.relative_to(ROOT)}:{uses[user][used]} uses {used.relative_to(ROOT)}"


def main(names: list[str]) -> int:
    """Print the circles; the exit code is 1 if there are any."""
    crates = {source.parent.name: source for source in sorted(ROOT.glob("crates/*/src"))}
    crates |= {program.parent.name: program.parent for program in sorted(ROOT.glob("crates/*/src/bin/*/main.rs"))}
    wrong: list[str] = []
    for name in names or ["weft", *crates]:
        uses = Crate(crates[name]).uses() if name in crates else python_uses(ROOT / "python" / name)
        found = circles(uses)
        wrong += [line for way in found for line in lines(uses, way)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
