"""Escaping of user-supplied text: names, titles and data for HTML, SVG and script elements.

All text from outside this package passes through here before it enters a page. A name may be anything: it may look
like markup, end a script element (``</script>``), keep it from ending (``<!--<script>``), or contain control
characters.
"""

import base64
import html
import json
import re
import zlib
from typing import Any
from urllib.parse import quote

from .labels import visible

_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_ENDS = re.compile("<(/?script|!--)", re.IGNORECASE)


def escape(text: object) -> str:
    """Text for an element or an attribute of HTML or SVG."""
    return html.escape(visible(str(text)))


def link(file: str, text: str) -> str:
    """A link to a file beside the page."""
    return f'<a href="{quote(file)}">{escape(text)}</a>'


def data_block(ident: str, data: Any) -> str:
    """Data for the page's script, as JSON without characters that HTML would treat as markup."""
    text = json.dumps(_shown(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f'<script type="application/json" id="{ident}">{text.translate(_IN_SCRIPT)}</script>'


def packed(data: Any) -> bytes:
    """Data for the page's script, as compressed JSON, for large numbers of values."""
    text = json.dumps(_shown(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode(), 9)


def packed_block(ident: str, data: bytes) -> str:
    """Data of `packed` in base64, which cannot contain markup whatever the bytes are."""
    return f'<script type="text/plain" id="{ident}">{base64.b64encode(data).decode()}</script>'


def closed(script: str) -> str:
    """A library's script, escaped so that its strings and patterns cannot affect where the script element ends."""
    return _ENDS.sub(r"\\x3c\1", script)


def _shown(data: Any) -> Any:
    """The data with all text made `visible`, so that names match those in the page's markup."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, dict):
        return {visible(str(key)): _shown(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        # Most data is numbers: a call for each would take longer than everything else here.
        return [value if type(value) in (int, float) else _shown(value) for value in data]
    return data
