"""DuckDB's errors as errors of a query."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import OutputError, QueryError

_LINE = re.compile(r"^LINE (\d+):", re.MULTILINE)
UNKNOWN_COLUMN = re.compile(
    r'column "[^"]*" (in \w+ list )?(not found|does not exist)|does not have a column named', re.IGNORECASE
)
_NO_VIEW = "the views are flows, series and runs"


@contextmanager
def explained() -> Iterator[None]:
    """Turn DuckDB's errors into errors of a query, with DuckDB's message."""
    import duckdb

    try:
        yield
    except duckdb.PermissionException as error:
        raise QueryError(_message(error), "a query reads only the views flows, series and runs") from None
    except duckdb.CatalogException as error:
        is_table = str(error).startswith("Catalog Error: Table ")
        raise QueryError(_message(error), _NO_VIEW if is_table else None) from None
    except duckdb.BinderException as error:
        raise QueryError(_message(error), _NO_VIEW if "Referenced table" in str(error) else None) from None
    except duckdb.OutOfMemoryException as error:
        raise QueryError(_message(error), "fewer rows or columns, or fewer groups") from None
    except duckdb.IOException as error:
        # DuckDB gives no number.
        text = _message(error)
        full = any(os.strerror(number) in text for number in (errno.ENOSPC, errno.EDQUOT))
        raise OutputError(text, disk_full=full) from None
    except (duckdb.Error, UnicodeError) as error:
        if isinstance(error, duckdb.InterruptException):
            raise KeyboardInterrupt from None
        raise QueryError(_message(error)) from None
    except RuntimeError as error:
        # Ctrl-C while DuckDB works in the main thread.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


def _message(error: Exception) -> str:
    """DuckDB's message, with the lines of the query as it was given: it ran one line further down."""
    text = str(error)
    if not text.startswith("Parser Error"):
        text = _LINE.sub(lambda found: f"LINE {max(int(found[1]) - 1, 1)}:", text)
    return text
