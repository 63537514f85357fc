"""Runs a command and writes its CPU time and peak memory as JSON: `python meter.py REPORT COMMAND...`.

A program of its own, because Linux counts the memory of the process that starts a program as the program's: this one is
small, so the peak of a program above some 10 MB is its own. Imports nothing of Weft.
"""

import json
import os
import sys
import time


def main(report: str, command: list[str]) -> int:
    """Run `command` with this process's standard output and error; return its exit code, 128 + N after signal N."""
    began = time.monotonic()
    # Without bytecode, each start of Weft would count the compilation of its modules.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    pid = os.posix_spawn(command[0], command, environment)
    _, status, usage = os.wait4(pid, 0)
    measured = {
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "wall_seconds": time.monotonic() - began,
        "peak_memory_bytes": usage.ru_maxrss * 1024,
    }
    with open(report, "w", encoding="utf-8") as file:  # noqa: PTH123 (pathlib needs time to import)
        json.dump(measured, file)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
