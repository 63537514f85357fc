"""A figure that is drawn: shown by a notebook, or saved."""

import re
import zlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..errors import OutputError
from ..markup import escape
from . import paper
from .options import FONT

_FALLBACKS = "Arial, Helvetica, sans-serif"
"""Fonts of the same widths as `FONT`, on machines without it."""
_IDS = re.compile(r'(?<=\bid=")(?=[\w-]+")|(?<=url\(#)(?=[\w-]+\))')


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG, which a notebook shows.

    Attributes:
        name: The name of the figure, with its point if it has one.
        svg: The drawing.
    """

    name: str
    svg: str = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the figure; the extension is the format: pdf, png, svg, jpg, tif or webp.

        Raises:
            OutputError: The format is unknown, or the file cannot be written.
        """
        path = Path(path)
        [written] = paper.save(self.svg, path.with_suffix(""), [path.suffix.removeprefix(".")])
        return written

    def _repr_svg_(self) -> str:
        """The drawing for a notebook, whose other drawings may have the same ids."""
        own = f"w{zlib.crc32(self.svg.encode()):08x}-"
        return _IDS.sub(own, self.svg).replace(f'"{FONT}"', f'"{FONT}, {_FALLBACKS}"')


@cache
def require(font: str) -> None:
    """Raise `OutputError` if there are no files of a font: texts would be missing in PDFs."""
    import vl_convert

    text = f'<text y="9" font-family="{escape(font)}">a</text>'
    pdf: bytes = vl_convert.svg_to_pdf(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{text}</svg>')
    if b"/BaseFont" not in pdf:
        raise OutputError(f"there is no font `{font}` on this machine: install it, or use the default, `{FONT}`")
