"""The colours of the causes of a flow's time, by the names in ``docs/why.md``: on light and on dark ground."""

CAUSES: dict[str, tuple[str, str]] = {
    "queueing": ("#b84a00", "#ff9a52"),
    "transmission": ("#0b6aa8", "#62b2f0"),
    "handshake": ("#00798c", "#5fd3e8"),
    "address resolution": ("#6b4226", "#c9a083"),
    "host's link": ("#274509", "#00993c"),
    "rate limit": ("#856900", "#e6c24a"),
    "rank before": ("#2e0421", "#8c8115"),
    "delayed acknowledgement": ("#006b4a", "#3fc795"),
    "held by a switch": ("#7436b8", "#bd95f7"),
    "loss recovery": ("#d42a45", "#ff7a8c"),
    "timeout": ("#8c1526", "#e2495f"),
    "unfinished": ("#3a3f9e", "#8088f5"),
    "others": ("#66707b", "#9aa5b1"),
}
MARKED = ("#478300", "#a5dd4a")
"""Packets that a queue marked. Other packets are drawn in the colour of text, lost and repeated ones in that of loss
recovery: shapes tell them apart."""


def style_sheet() -> str:
    """The colours as properties `--cause-0`, `--cause-1` ... in the order of `CAUSES`, `--loss` and `--marked`."""
    colours = {f"cause-{at}": colour for at, colour in enumerate(CAUSES.values())}
    colours |= {"loss": CAUSES["loss recovery"], "marked": MARKED}
    each = (f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in colours.items())
    return f":root {{ {' '.join(each)} }}\n"
