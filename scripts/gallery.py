"""Runs the scenarios of the gallery and writes their pictures and `docs/gallery.md`: `make gallery`.

python scripts/gallery.py            # all
python scripts/gallery.py failure    # these; the page is written from all pictures
"""

import sys
import tempfile
import time
import tomllib
from pathlib import Path

from PIL import Image

import weft

ROOT = Path(__file__).parents[1]
SCENARIOS = ROOT / "scenarios" / "gallery"
PICTURES = ROOT / "docs" / "images" / "gallery"
PAGE = ROOT / "docs" / "gallery.md"
FIGURES = {
    "permutation": "fct-cdf",
    "load": "fct-p99",
    "oversubscription": "slowdown",
    "failure": "throughput-time",
    "flapping-link": "fct-cdf",
    "slow-link": "fct-cdf",
    "gray-failure": "fct-cdf",
    "incast": "fct-mean",
    "ecn-threshold": "queues",
    "priority": "fct-mean",
    "lossless": "fct-cdf",
    "trimming": "fct-cdf",
    "entropies": "fct-p99",
    "all-reduce": "collective-time",
    "all-to-all": "collective-time",
    "multipath-tcp": "fct-cdf",
    "exploration": "fct-mean",
    "ring": "fct-cdf",
    "dumbbell": "throughput-time",
    "flowlets": "fct-mean",
}
"""The figure of each scenario, in the order of the page."""
WIDTH = 860
"""Of pictures, in pixels."""
HEAD = """\
# Gallery

Twenty small scenarios, each of which runs in seconds: a sentence, a picture, the file. `weft scenarios` copies them all
into a directory; `make gallery` runs them and writes this page.
"""


def page() -> str:
    """The page, from the descriptions of the scenarios."""
    parts = [HEAD]
    for name, figure in FIGURES.items():
        sentence = tomllib.loads((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"))["description"]
        parts.append(f"""\
## {name}

{sentence}. [Scenario](../scenarios/gallery/{name}.toml), figure `{figure}`.

![{sentence}](images/gallery/{name}.png)
""")
    return "\n".join(parts)


def shrink(large: Path, small: Path) -> None:
    """Make a picture as small as a page needs it: 32 colours, 860 pixels wide."""
    with Image.open(large) as picture:
        size = (WIDTH, round(picture.height * WIDTH / picture.width))
        scaled = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    scaled.quantize(32, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(small, optimize=True)


def draw(name: str, directory: Path) -> None:
    """Run a scenario and write its picture."""
    began = time.monotonic()
    results = weft.Scenario.from_file(SCENARIOS / f"{name}.toml").run(directory / name)
    large = directory / f"{name}.png"
    weft.figure(results, FIGURES[name], width="text").save(large)
    shrink(large, PICTURES / f"{name}.png")
    print(f"{name}: {time.monotonic() - began:.1f} s")


def main(names: list[str]) -> None:
    """Draw the pictures of these scenarios, and write the page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        for name in names or FIGURES:
            draw(name, Path(directory))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
