"""The files that let a plugin's crate be built with the sources of this Weft, in ``.weft`` and ``.cargo``.

Cargo reuses crates compiled in another workspace if all settings are equal and every path is the same within both. So
``.weft`` is a workspace with the repository's settings and a link to its crates, and a plugin links the crates that
``make build`` compiled.
"""

import hashlib
import re
import tomllib
from pathlib import Path

from .errors import OutputError, PluginError
from .files import write_text

_ROOT = Path(__file__).parent
_WORKSPACE = ".weft"
_PACKAGE_PROFILE = re.compile(r"\[profile\.\w+\.package\.([\w-]+)\]")


def sources() -> Path:
    """The directory with the sources of this Weft's crates: the repository, or a part of the installation.

    Raises `PluginError` if this installation has none.
    """
    for root in (_ROOT.parents[1], _ROOT / "sources"):
        if (root / "crates" / "plugin" / "Cargo.toml").is_file():
            return root
    raise PluginError("this installation of Weft has no sources of its crates", "install Weft from its repository")


def write(crate: Path) -> None:
    """Write the files for the crate of a plugin, unless they are there already or its manifest does not name them.

    Raises `PluginError` if this installation of Weft has no sources, `OutputError` if they cannot be written.
    """
    try:
        package = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8")).get("package", {})
    except ValueError:
        return  # Cargo reports it.
    if package.get("workspace") != _WORKSPACE:
        return
    workspace, root = crate / _WORKSPACE, sources()
    crates = root / "crates"
    lock = (root / "Cargo.lock").read_text(encoding="utf-8")
    manifest = _manifest((root / "Cargo.toml").read_text(encoding="utf-8"), lock, package.get("name", ""))
    if _is_written(workspace, manifest, crates):
        return
    # In the repository, crates that are compiled there are used.
    shared = f'build-dir = "{root.as_posix()}/target"\n' if (root / "python").is_dir() else ""
    write_text(crate / ".cargo" / "config.toml", f'[build]\ntarget-dir = "target"\n{shared}')
    # The versions with which Weft itself was built.
    write_text(workspace / "Cargo.lock", lock)
    link = workspace / "crates"
    try:
        link.unlink(missing_ok=True)
        link.symlink_to(crates, target_is_directory=True)
    except OSError as error:
        raise OutputError(f"{link} cannot be written: {error.strerror or error}") from error
    # Last: an interrupted attempt is repeated.
    write_text(workspace / "Cargo.toml", manifest)


def _is_written(workspace: Path, manifest: str, crates: Path) -> bool:
    try:
        written = (workspace / "Cargo.toml").read_text(encoding="utf-8")
        return written == manifest and (workspace / "crates").readlink() == crates
    except OSError:
        return False


def _manifest(sources: str, lock: str, plugin: str) -> str:
    """The manifest of the workspace: the repository's, with another member and without settings for crates not used."""
    used = _closure(tomllib.loads(lock)["package"], "weft-plugin")

    def is_kept(table: str) -> bool:
        package = _PACKAGE_PROFILE.match(table)
        return table.startswith(("[workspace.", "[profile.")) and (package is None or package[1] in used)

    without_comments = re.sub(r"(?m)^#.*\n", "", sources)
    tables = [table for table in re.split(r"(?m)^(?=\[)", without_comments) if is_kept(table)]
    digest = hashlib.sha256(lock.encode()).hexdigest()[:12]
    head = f"""\
# Written by Weft, for the versions in Cargo.lock ({digest}).
[workspace]
resolver = "{tomllib.loads(sources)["workspace"]["resolver"]}"
members = [".."]

[profile.release.package.{plugin}]
opt-level = 3
codegen-units = 1

"""
    return head + "".join(tables)


def _closure(packages: list[dict[str, list[str]]], root: str) -> set[str]:
    """The names of a package and all its dependencies."""
    needs = {str(package["name"]): package.get("dependencies", []) for package in packages}
    found, left = set[str](), [root]
    while left:
        if (name := left.pop()) not in found:
            found.add(name)
            # Behind the name is a version if there are several.
            left += [need.split()[0] for need in needs[name]]
    return found
