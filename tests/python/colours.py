"""Colours as readers see them: contrast (WCAG 2), vision deficiencies (Machado 2009), differences (CIEDE2000)."""

from __future__ import annotations

import re

import numpy as np

VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(color: str) -> np.ndarray:
    """Linear RGB (0..1) of ``#rrggbb`` or ``rgb(r, g, b)``."""
    if color.startswith("#"):
        values = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    else:
        values = [float(number) for number in re.findall(r"[\d.]+", color)[:3]]
    share = np.array(values) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2, 1 to 21."""
    low, high = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def _lab(rgb: np.ndarray) -> np.ndarray:
    xyz = np.clip(rgb, 0, 1) @ _XYZ.T / _WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: str, other: str, vision: str = "normal") -> float:
    """CIEDE2000 between two colours, for readers with this vision."""
    return ciede2000(*(_lab(VISION[vision] @ linear(color)) for color in (one, other)))


def ciede2000(one: np.ndarray, other: np.ndarray) -> float:
    """The difference of two colours in CIELAB (Sharma, Wu and Dalal, 2005)."""
    (light1, a1, b1), (light2, a2, b2) = one, other
    chroma7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(chroma7 / (chroma7 + 25**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    light, c = (light1 + light2) / 2, (c1 + c2) / 2
    if c1 * c2 == 0:
        h = h1 + h2
    else:
        h = (h1 + h2) / 2 if abs(h1 - h2) <= 180 else (h1 + h2 + (360 if h1 + h2 < 360 else -360)) / 2
    t = 1.0
    for size, times, offset in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63)):
        t += size * np.cos(np.radians(times * h + offset))
    s_light = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    s_c, s_h = 1 + 0.045 * c, 1 + 0.015 * c * t
    rotation = -2 * np.sqrt(c**7 / (c**7 + 25**7)) * np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
    parts = (light2 - light1) / s_light, (c2 - c1) / s_c, hue / s_h
    return float(np.sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2]))
