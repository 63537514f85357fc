"""Which files of a Rust crate use which other files, read from their paths without a compiler.

A path leads to the file that defines its first item: re-exports (`pub use`) are followed. The tests of a
file, `#[cfg(test)] mod tests`, do not count, because nobody reads them to understand it; files that only tests use do.
Methods do not count: a path names the code that a file needs to be compiled.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Route = tuple[str, ...]
"""A module's path from the root of the crate, or that of an item."""
_NOT_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])'|r#".*?"#|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(r"(?<![\w:])[A-Za-z_]\w*(?:::\w+)+")
_ITEM = re.compile(r"\b(?:struct|enum|union|trait|type|fn|const|static|macro_rules!|mod)\s+(?:mut\s+)?([A-Za-z_]\w*)")
_INLINE = re.compile(r"\bmod\s+\w+\s*\{")


@dataclass
class _Module:
    """A file: its text without comments, its definitions, and the names that `use` brings into it."""

    file: Path
    text: str
    items: set[str]
    brought: dict[str, Route] = field(default_factory=dict)
    globs: list[Route] = field(default_factory=list)


class Crate:
    """The files below the `src` of a crate."""

    def __init__(self, source: Path) -> None:
        root = next(name for name in ("lib", "main") if (source / f"{name}.rs").is_file())
        self._modules: dict[Route, _Module] = {}
        for file in sorted(source.rglob("*.rs")):
            parts = file.relative_to(source).with_suffix("").parts
            if parts[0] == "bin" or (parts[0] in ("lib", "main") and parts != (root,)):
                continue
            name = () if parts == (root,) else parts[:-1] if parts[-1] == "mod" else parts
            text = _code(file.read_text())
            self._modules[name] = _Module(file, text, set(_ITEM.findall(text)))
        for name, module in self._modules.items():
            for declaration in _USE.findall(module.text):
                for path, known_as in _tree(declaration):
                    found = self._absolute(name, path)
                    if found is not None and known_as == "*":
                        module.globs.append(found)
                    elif found is not None:
                        module.brought[known_as] = found

    def uses(self) -> dict[Path, dict[Path, int]]:
        """The files that each file uses, with the first line that does."""
        found: dict[Path, dict[Path, int]] = {}
        for name, module in self._modules.items():
            lines = found.setdefault(module.file, {})
            for at, path in self._paths(module.text):
                absolute = self._absolute(name, path)
                used = None if absolute is None else self._modules[self._defining(absolute)].file
                if used is not None and used != module.file:
                    lines.setdefault(used, module.text.count("\n", 0, at) + 1)
        return found

    def _paths(self, text: str) -> Iterator[tuple[int, Route]]:
        """Every path in the text, and its place."""
        for match in _USE.finditer(text):
            for path, _ in _tree(match[1]):
                yield match.start(), path
        for match in _PATH.finditer(_USE.sub(lambda use: "\n" * use[0].count("\n"), text)):
            yield match.start(), tuple(match[0].split("::"))

    def _absolute(self, module: Route, path: Route) -> Route | None:
        """The path from the root of the crate; None if it leads out of the crate."""
        first, rest = path[0], path[1:]
        if first == "crate":
            return rest
        while first in ("self", "super"):
            module = module[:-1] if first == "super" else module
            if not rest or rest[0] != "super":
                return module + rest
            first, rest = rest[0], rest[1:]
        if (*module, first) in self._modules:
            return module + path
        brought = self._modules[module].brought.get(first)
        return None if brought is None else brought + rest

    def _defining(self, path: Route, depth: int = 8) -> Route:
        """The module that defines the target of an absolute path."""
        at: Route = ()
        for place, part in enumerate(path):
            if (*at, part) in self._modules:
                at = (*at, part)
                continue
            module = self._modules[at]
            if part in module.items or not depth:
                return at
            if part in module.brought:
                return self._defining(module.brought[part] + path[place + 1 :], depth - 1)
            for glob in module.globs:
                found = self._defining((*glob, part), depth - 1)
                if part in self._modules[found].items:
                    return found
            return at
        return at


def _code(text: str) -> str:
    """The text without comments, strings and tests; in modules within the file, `super` becomes `self`."""
    text = re.split(r"#\[cfg\(test\)\]\s*mod tests\b", text, maxsplit=1)[0]
    text = _NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for match in _INLINE.finditer(text):
        end, depth = match.end(), 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body = text[match.end() : end]
        text = text[: match.end()] + re.sub(r"\bsuper::(?!super)", " self::", body) + text[end:]
    return text


def _tree(declaration: str, before: Route = ()) -> Iterator[tuple[Route, str]]:
    """The paths of a `use` declaration, such as `a::{b, c as d}`, each with the name that it gives; `*` for a glob."""
    declaration = declaration.strip()
    head, brace, inner = declaration.partition("{")
    if brace:
        lead = before + tuple(part.strip() for part in head.split("::") if part.strip())
        depth, start = 0, 0
        inner = inner.rpartition("}")[0] + ","
        for place, letter in enumerate(inner):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == "," and not depth:
                if part := inner[start:place].strip():
                    yield from _tree(part, lead)
                start = place + 1
        return
    path, _, other = re.sub(r"\s+", " ", declaration).partition(" as ")
    parts = before + tuple(part for part in path.split("::") if part)
    if parts[-1] == "*":
        yield parts[:-1], "*"
    elif parts[-1] == "self" and before:
        yield parts[:-1], other or before[-1]
    else:
        yield parts, other or parts[-1]
