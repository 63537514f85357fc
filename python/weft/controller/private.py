"""The directory of the control socket below /tmp, where anybody may have made it first."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .errors import ControllerError


def check(folder: Path) -> None:
    """Make sure that nobody else decides what is in ``/tmp/weft-UID``; any other directory is the user's own choice.

    Raises:
        ControllerError: It is a symbolic link or no directory, belongs to somebody else, or others may write to it.
    """
    if folder.parent != Path("/tmp") or not os.path.lexists(folder):
        return
    # Of the link itself, if it is one: whoever made that can lead it elsewhere later.
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        wrong = "is a symbolic link" if stat.S_ISLNK(found.st_mode) else "is no directory"
    elif found.st_uid != os.geteuid():
        wrong = f"belongs to user {found.st_uid}, not to you ({os.geteuid()})"
    elif stat.S_IMODE(found.st_mode) & 0o022:
        wrong = f"may be written to by others (mode {stat.S_IMODE(found.st_mode):04o}, expected 0700)"
    else:
        return
    raise ControllerError(
        f"--control: {folder} {wrong}: whoever made it could stand in for the controller",
        "set XDG_RUNTIME_DIR, or --control with a path in a directory of yours, here and for `weft controller show`",
    )
