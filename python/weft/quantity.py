"""Human-readable numbers: three significant digits and a suitable unit.

Shared by the terminal tables, the report and the figures, so that they format quantities the same way.
"""

import math
from collections.abc import Callable, Iterable

MISSING = "–"

_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATE = ((1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps"))
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_PLAIN = ((1e9, "G"), (1e6, "M"), (1.0, ""))
UNITS = {"s": _TIME, "bps": _RATE, "bytes": _BYTES, "count": _PLAIN}
"""The units of each kind of quantity that has some, the largest first."""


def digits(value: float, significant: int = 3) -> str:
    """`value` with `significant` significant digits, without an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{significant - 1}e}")
    decimals = significant - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(decimals, 0)}f}"


def plus_minus(value: float, half: float | None) -> str:
    """`` ±half`` with two digits, at most one decimal more than `value` has; empty without an interval.

    A smaller one is below the last decimal, ``±<0.001``: an interval that is there never reads as zero.
    """
    if half is None:
        return ""
    decimals = len(digits(value).partition(".")[2])
    fine = digits(half, 2)
    return f" ±{fixed(half, decimals + 1)}" if len(fine.partition(".")[2]) > decimals + 1 else f" ±{fine}"


def fixed(half: float, decimals: int) -> str:
    """Half of an interval with so many decimals; if it is not zero but would read so, ``<`` and the last decimal."""
    text = f"{half:,.{decimals}f}"
    return f"<{10**-decimals:.{decimals}f}" if half and not float(text.replace(",", "")) else text


def _scaled(value: float | None, units: tuple[tuple[float, str], ...], half: float | None) -> str:
    if value is None or math.isnan(value):
        return MISSING
    factor, unit = next(((f, u) for f, u in units if abs(value) >= f * 0.9995), units[-1])
    text = digits(value / factor) + plus_minus(value / factor, None if half is None else half / factor)
    return f"{text} {unit}".rstrip()


def seconds(value: float | None, half: float | None = None) -> str:
    """A duration in seconds, e.g. ``1.23 ms ±0.04``."""
    return _scaled(value, _TIME, half)


def rate(value: float | None, half: float | None = None) -> str:
    """A rate in bits per second, e.g. ``941 Mbps``."""
    return _scaled(value, _RATE, half)


def size(value: float | None, half: float | None = None) -> str:
    """An amount of data in bytes, e.g. ``1.5 MB`` (powers of ten)."""
    return _scaled(value, _BYTES, half)


def rough_size(value: float) -> str:
    """An estimated amount of data, with two digits, e.g. ``1.5 MB``."""
    factor, unit = next(((f, u) for f, u in _BYTES if value >= f * 0.95), _BYTES[-1])
    return f"{digits(value / factor, 2)} {unit}"


def count(value: float | None, half: float | None = None) -> str:
    """A count: exact below a million, else with M or G."""
    if value is None or math.isnan(value) or abs(value) >= 1e6:
        return _scaled(value, _PLAIN, half)
    if half is None and float(value).is_integer():
        return f"{value:,.0f}"
    text = f"{value:,.0f}" if abs(value) >= 1000 or float(value).is_integer() else digits(value)
    return text + plus_minus(value, half)


def percent(value: float | None, half: float | None = None) -> str:
    """A share (0..1) as a percentage."""
    if value is None or math.isnan(value):
        return MISSING
    text = digits(value * 100) + plus_minus(value * 100, None if half is None else half * 100)
    return f"{text} %"


def of_whole(value: float) -> str:
    """A share of a whole whose parts are listed, as a percentage with one decimal: ``83.4 %``, ``<0.1 %``."""
    text = f"{value * 100:.1f}"
    return f"{text if text != '0.0' or not value else '<0.1'} %"


def change(value: float | None, half: float | None = None) -> str:
    """A relative change as a signed percentage, e.g. ``−12.3 % ±1.1``."""
    if value is None or math.isnan(value):
        return MISSING
    sign = "+" if value > 0 else "−" if value < 0 else ""
    size = abs(value) * 100
    text = f"{sign}{size:,.0f}" if size >= 99.95 else f"{sign}{size:.1f}"
    return f"{text}{plus_minus(size, None if half is None else half * 100)} %"


def ratio(value: float | None, half: float | None = None) -> str:
    """A factor without a unit, e.g. ``3.14``."""
    if value is None or math.isnan(value):
        return MISSING
    return digits(value) + plus_minus(value, half)


def p_value(value: float) -> str:
    """A probability as tests report it, e.g. ``0.012`` or ``<0.001``."""
    return "<0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def parts(kind: str, value: float, half: float | None) -> tuple[str, str]:
    """A quantity and its ``±`` separately, each with its unit: ``1.23 ms``, ``±0.05 ms``; the second may be empty."""
    number, plus, rest = FORMATS[kind](value, half).partition(" ±")
    if not plus:
        return number, ""
    text, space, unit = rest.partition(" ")
    return f"{number}{space}{unit}", f"±{text}{space}{unit}"


def span(values: Iterable[float | None], spell: Callable[[float], str]) -> str:
    """The smallest and largest value, e.g. ``1.20 s to 1.61 s``, or just one if both read the same."""
    known = [value for value in values if value is not None]
    if not known:
        return MISSING
    return " to ".join(dict.fromkeys((spell(min(known)), spell(max(known)))))


def clock(value: float | None) -> str:
    """A remaining time: ``4 s``, ``3 min 20 s``, ``1 h 05 min``."""
    if value is None or math.isnan(value) or math.isinf(value):
        return MISSING
    total = round(value)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60:02d} s"
    return f"{total // 3600} h {total % 3600 // 60:02d} min"


FORMATS: dict[str, Callable[..., str]] = {
    "s": seconds,
    "bps": rate,
    "bytes": size,
    "count": count,
    "share": percent,
    "ratio": ratio,
}
"""The formatter for each kind of quantity named in `weft.summary.METRICS`."""
