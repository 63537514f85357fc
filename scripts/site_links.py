"""A hook of mkdocs: the site works offline, with the files outside `docs` to which pages link as text in its `files`.

Links to directories outside `docs` become their names.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"(^```.*?^```$)", re.S | re.M)
_FILES = "https://files.invalid/"
"""Stands for the directory of the files until the page is written: mkdocs knows only pages."""
_WORKER = "https://unpkg.com/iframe-worker/shim"
"""The address of a script that the search needs; `site_worker.js` takes its place."""
_linked: set[Path] = set()


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Lead the links of a page to the copies; mkdocs reports those without a target."""
    folder = (Path(config.docs_dir) / page.file.src_path).parent
    parts = _CODE.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: _copied(link, folder), part) for part in parts[::2]]
    return "".join(parts)


def _copied(link: re.Match[str], folder: Path) -> str:
    target = (folder / link[2]).resolve()
    if target.is_dir():
        return link[1]
    if not target.is_file():
        return link[0]
    _linked.add(target)
    return f"[{link[1]}]({_FILES}{target.relative_to(ROOT).as_posix()}.txt)"


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Write the links, and that of the search's script, relative to the page."""
    above = os.path.relpath(".", Path(page.file.dest_path).parent)
    output = output.replace(_WORKER, f"{above}/assets/javascripts/worker.js")
    return output.replace(_FILES, f"{above}/files/")


def on_post_build(config: Any, **_: Any) -> None:
    """Copy the files."""
    shutil.copyfile(ROOT / "scripts" / "site_worker.js", Path(config.site_dir) / "assets" / "javascripts" / "worker.js")
    for target in _linked:
        copy = Path(config.site_dir) / "files" / f"{target.relative_to(ROOT).as_posix()}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, copy)
