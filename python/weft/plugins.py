"""Plugins: schemes and congestion controllers compiled into modules of their own (``docs/own-scheme.md``).

A plugin is native code with all rights of the process that loads it, so `load` is only called with paths that the user
gave, never with one from a scenario.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

from . import _weft, plugin_workspace
from .errors import PluginError


def load_plugin(path: str | Path, *, quiet: bool = True) -> str:
    """Load a plugin; afterwards scenarios of this process may name its scheme or congestion controller.

    Args:
        path: The directory of its crate, which is built if necessary, or the compiled module.
        quiet: Print no progress of the build.

    Returns:
        The name of its scheme or congestion controller.

    Raises:
        PluginError: The crate cannot be built, the module is older than its sources, was built with another version of
            Weft, or is no plugin. The message says which.
    """
    path = Path(path)
    module = build(path, quiet=quiet) if path.is_dir() else path
    if module is path:
        _refuse_stale(module)
    try:
        return _weft.load_plugin(str(module))
    except _weft.OtherVersionError as error:
        again = f"build it again with {plugin_workspace.sources()}: give its crate's directory in place of the module"
        raise PluginError(str(error), again) from error
    except ValueError as error:
        raise PluginError(str(error)) from error


def build(crate: Path, *, quiet: bool = True) -> Path:
    """Build a crate with ``cargo build --release``, which prints progress and errors to standard error.

    If its manifest names the workspace ``.weft``, that is written for the sources of this Weft.

    Returns:
        The module.

    Raises:
        PluginError: The directory is not the crate of a module, or it cannot be built.
        OutputError: The workspace cannot be written.
    """
    manifest = crate / "Cargo.toml"
    if not manifest.is_file():
        raise PluginError(f"{crate} has no Cargo.toml", "give the crate of a plugin, or its compiled module")
    cargo = shutil.which("cargo")
    if cargo is None:
        raise PluginError(
            f"{crate} cannot be built: cargo is not installed",
            "install Rust (https://rustup.rs), or give the module that was built elsewhere",
        )
    plugin_workspace.write(crate)
    command = [cargo, "build", "--release", "--message-format", "json-render-diagnostics"]
    # Cargo reads .cargo of the directory in which it starts.
    done = subprocess.run(
        [*command, *(["--quiet"] if quiet else [])], cwd=crate, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise PluginError(f"{crate} cannot be built: cargo's message is above")
    wanted = manifest.resolve()
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact" or Path(message["manifest_path"]).resolve() != wanted:
            continue
        if "cdylib" in message["target"]["crate_types"]:
            return Path(next(name for name in message["filenames"] if Path(name).suffix in {".so", ".dylib", ".dll"}))
    raise PluginError(f"{crate} is not the crate of a plugin", 'its Cargo.toml needs [lib] crate-type = ["cdylib"]')


def _refuse_stale(module: Path) -> None:
    """Raise `PluginError` if a module is missing, or older than one of the sources that cargo lists for it."""
    if not module.exists():
        raise PluginError(
            f"there is no plugin {module}", f"build it: {_command(module)}, or give its crate's directory"
        )
    listed = module.with_suffix(".d")
    if not listed.is_file():
        return
    _, _, names = listed.read_text(encoding="utf-8", errors="replace").splitlines()[0].partition(": ")
    built = module.stat().st_mtime
    for name in re.split(r"(?<!\\) ", names):
        source = Path(name.replace("\\ ", " "))
        if source.is_file() and source.stat().st_mtime > built:
            raise PluginError(
                f"{module} is older than its source {source}",
                f"build it again: {_command(module)}, or give its crate's directory",
            )


def _command(module: Path) -> str:
    """The command that builds a module; with the crate's directory if the module lies in one."""
    crate = next((parent for parent in module.absolute().parents if (parent / "Cargo.toml").is_file()), None)
    if crate is None or crate == Path.cwd():
        return "cargo build --release"
    return f"(cd {crate} && cargo build --release)"
