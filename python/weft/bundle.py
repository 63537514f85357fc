"""The scenarios that come with Weft: files of the package, in a checkout symbolic links to `scenarios/`."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from .errors import OutputError
from .files import write_text


def names() -> list[PurePosixPath]:
    """The files, relative to their directory: scenarios, and the fabric files that they use."""
    return sorted(_below(_root(), PurePosixPath()))


def holds(path: Path) -> bool:
    """Whether a path is that of a file of the package, copied into `scenarios` of the working directory."""
    return path.parts[:1] == ("scenarios",) and PurePosixPath(*path.parts[1:]) in names()


def copy(directory: Path) -> list[Path]:
    """Copy all files into a directory and return them in the order of `names`; equal files that are there stay.

    Raises `OutputError` if a file exists with other content, and nothing is written; or if it cannot be written.
    """
    root = _root()
    texts = {directory / name: root.joinpath(*name.parts).read_text(encoding="utf-8") for name in names()}
    missing = {path: text for path, text in texts.items() if not path.exists()}
    for path in texts.keys() - missing.keys():
        if not path.is_file() or path.read_bytes() != texts[path].encode():
            raise OutputError(f"{path} exists and differs from Weft's own: nothing was copied", "another directory")
    for path, text in missing.items():
        write_text(path, text)
    return list(texts)


def _root() -> Traversable:
    return resources.files("weft").joinpath("scenarios")


def _below(folder: Traversable, at: PurePosixPath) -> list[PurePosixPath]:
    found = []
    for entry in folder.iterdir():
        found += _below(entry, at / entry.name) if entry.is_dir() else [at / entry.name]
    return found
