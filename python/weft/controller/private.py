"""Checks the directory of the control socket below /tmp, which another user may have created first."""

import os
import stat
from pathlib import Path

from .errors import ControllerError


def check(folder: Path) -> None:
    """Make sure that no other user controls ``/tmp/weft-UID``; other directories are the user's own choice.

    Raises `ControllerError` if it is a symbolic link or not a directory, or another user owns it or can write to it.
    """
    if folder.parent != Path("/tmp") or not os.path.lexists(folder):
        return
    # Do not follow a symbolic link: its owner could redirect it later.
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        wrong = "is a symbolic link" if stat.S_ISLNK(found.st_mode) else "is not a directory"
    elif found.st_uid != os.geteuid():
        wrong = f"belongs to user {found.st_uid}, not to you ({os.geteuid()})"
    elif stat.S_IMODE(found.st_mode) & 0o022:
        wrong = f"is writable by others (mode {stat.S_IMODE(found.st_mode):04o}, expected 0700)"
    else:
        return
    raise ControllerError(
        f"--control: {folder} {wrong}: another user could impersonate the controller",
        "set XDG_RUNTIME_DIR, or --control with a path in a directory you own, here and for `weft controller show`",
    )
