"""The colours of the causes of a flow's time, by the names in ``docs/why.md``: on light and on dark ground."""

CAUSES: dict[str, tuple[str, str]] = {
    "queueing": ("#b84a00", "#ff9a52"),
    "transmission": ("#0b6aa8", "#62b2f0"),
    "handshake": ("#1f7690", "#7fd0e6"),
    "address resolution": ("#626b76", "#a9b3be"),
    "host's link": ("#a3457f", "#f09bcf"),
    "rate limit": ("#856900", "#e6c24a"),
    "delayed acknowledgement": ("#007255", "#4fd0a0"),
    "held by a switch": ("#6a4fb3", "#b39df2"),
    "loss recovery": ("#c2334d", "#ff8095"),
    "timeout": ("#8f1d2c", "#f2677a"),
    "unfinished": ("#3f4852", "#cfd6dd"),
    "others": ("#626b76", "#a9b3be"),
}


def style_sheet() -> str:
    """The colours as properties `--cause-0`, `--cause-1` ... in the order of `CAUSES`."""
    each = (f"--cause-{at}: light-dark({light}, {dark});" for at, (light, dark) in enumerate(CAUSES.values()))
    return f":root {{ {' '.join(each)} }}\n"
