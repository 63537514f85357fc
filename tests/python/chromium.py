"""A page in headless Chromium, with the browser's complaints."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def opened(browser: Any, path: Path, width: int = 1280, fragment: str = "", **context: Any) -> Any:
    """A rendered page; `complaints` are its console messages and script errors, `requests` what it asked for."""
    page = browser.new_page(viewport={"width": width, "height": 900}, **context)
    page.set_default_timeout(1e3 * PATIENCE_S)
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: (page.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: page.requests.append(request.url))
    page.path = path
    page.goto(path.as_uri() + fragment)
    page.wait_for_function("document.documentElement.dataset.ready")
    return page
