#!/usr/bin/env python3
"""Draws an answer like a terminal with 80 columns, dark and light, for docs/answers.md.

    plimsoll report last --color always | python3 scripts/screenshots.py pool "plimsoll URL"

writes docs/images/answers/pool-dark.svg and pool-light.svg. Needs rich (python3 -m pip install rich).
"""

import io
import pathlib
import re
import sys

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "images" / "answers"
# The background, the text, then the eight colours of a terminal and their bright forms.
THEMES = {
    "dark": TerminalTheme(
        (24, 26, 31), (220, 223, 228),
        [(40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194),
         (220, 223, 228)],
        [(92, 99, 112), (255, 130, 140), (172, 215, 141), (249, 212, 143), (127, 195, 255), (218, 140, 241), (106, 202, 214),
         (255, 255, 255)]),
    "light": TerminalTheme(
        (255, 255, 255), (36, 41, 47),
        [(36, 41, 47), (190, 20, 30), (20, 120, 50), (150, 100, 0), (10, 80, 180), (120, 40, 140), (0, 110, 120),
         (110, 119, 129)],
        [(87, 96, 106), (164, 14, 38), (26, 127, 55), (99, 60, 1), (33, 139, 255), (163, 117, 243), (49, 146, 170),
         (140, 149, 159)]),
}


def picture(text, theme):
    """Returns the text as SVG."""
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(text), soft_wrap=False, overflow="fold")
    svg = console.export_svg(title=" ", theme=theme)
    return plain(svg)


def plain(svg):
    """Removes web fonts and window buttons, and keeps the spaces that SVG readers drop."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")
    svg = re.sub(r"<!-- Generated with Rich.*?-->|<circle[^>]*/>", "", svg)
    svg = re.sub(r"(<text [^>]*>)([^<]*)(</text>)", lambda found: found[1] + found[2].replace(" ", "\u00a0") + found[3], svg)
    return svg.replace("<text ", '<text xml:space="preserve" ')


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    name, command = sys.argv[1:]
    text = f"$ {command}\n{sys.stdin.read().rstrip()}"
    for theme, colours in THEMES.items():
        (FOLDER / f"{name}-{theme}.svg").write_text(picture(text, colours))


if __name__ == "__main__":
    main()
