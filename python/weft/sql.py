"""SQL as text: quoted names, and the kind of a statement."""


def quoted(text: str) -> str:
    """Text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def named(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def listed(texts: list[str]) -> str:
    """A list of texts in SQL."""
    return "[" + ", ".join(quoted(text) for text in texts) + "]"


def statement(sql: str, kind: str) -> str:
    """DuckDB's name of a statement if it is in the text, else the first keyword: DuckDB calls a CHECKPOINT a CALL."""
    import duckdb

    text = sql.encode()
    tokens = duckdb.tokenize(sql)
    ends = [offset for offset, _ in tokens[1:]] + [len(text)]
    words = [
        text[offset:end].decode().strip().upper()
        for (offset, found), end in zip(tokens, ends, strict=True)
        if found == duckdb.token_type.keyword
    ]
    name = kind.replace("_", " ")
    return name if name in words or not words else words[0]


def without_end(sql: str) -> str:
    """A statement up to its semicolon, if it has one."""
    import duckdb

    text = sql.encode()
    for offset, kind in reversed(duckdb.tokenize(sql)):
        if kind == duckdb.token_type.comment:
            continue
        if text[offset : offset + 1] != b";":
            break
        text = text[:offset]
    return text.decode()
