"""Runs the cells of a notebook without Jupyter and stores their outputs, as Jupyter would show them.

python scripts/run_notebook.py docs/notebook.ipynb
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FORMS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
"""Methods by which Jupyter shows a value, by media type."""


def run(notebook: dict[str, Any]) -> None:
    """Run all cells in an empty directory, and replace their outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        for number, cell in enumerate(cells, 1):
            cell["outputs"] = _outputs("".join(cell["source"]), number, names)
            cell["execution_count"] = number


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _outputs(source: str, number: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {kind: _lines(getattr(value, form)()) for kind, form in _FORMS.items() if hasattr(value, form)}
        data["text/plain"] = _lines(repr(value))
        outputs.append({"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write(notebook: dict[str, Any], path: Path) -> None:
    """Write a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(path: Path) -> None:
    """Run a notebook and write it with its outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    run(notebook)
    write(notebook, path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
