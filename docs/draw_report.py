"""Draw the README's picture of a report: `python docs/draw_report.py out/20260101-120000-verify [SCENARIO]`.

Chromium opens the run's report.html without a window. The picture has the card, why, what would have been noticed, and
the pictures of one scenario (if none is named, the last one that the page shows unfolded); dots stand for what lies
between. It is written to docs/report.png.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("report.png")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, _HEIGHT = 1180, 900
_PATIENCE = 120_000  # milliseconds, on a host that is busy with clusters
# Leaves the parts that are shown; returns null, or the scenarios to choose from where the named one is none of them.
_CHOOSE = """scenario => {
  const kept = ["verdict", "reasons", "gaps", "timelines"];
  for (const part of document.querySelectorAll("main > section, footer")) part.hidden = !kept.includes(part.id);
  const groups = [...document.querySelectorAll("#timelines > details.run")];
  const title = group => group.querySelector("h3").textContent;
  const chosen = scenario ? groups.find(group => title(group) === scenario) : groups.filter(group => group.open).at(-1);
  if (!chosen) return groups.map(title);
  for (const group of groups) group.hidden = group !== chosen;
  chosen.open = true;
  const dots = Object.assign(document.createElement("p"), { className: "quiet", textContent: "⋮" });
  document.getElementById("timelines").before(dots);
  return null;
}"""


class DrawingError(Exception):
    """There is nothing to draw, or nothing to draw it with."""


def draw(run: Path, scenario: str = "", picture: Path = PICTURE) -> None:
    """Write the picture of a run's report. Raises DrawingError."""
    report = (run / "report.html").resolve()
    if not report.is_file():
        raise DrawingError(f"There is no {report}: name the folder of a verification.")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise DrawingError(f"This host has none of {', '.join(BROWSERS)} (Debian: apt-get install chromium).")
    with sync_playwright() as driver:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=found, args=arguments)
        page = browser.new_page(viewport={"width": WIDTH, "height": _HEIGHT}, color_scheme="light")
        page.goto(report.as_uri())
        others = page.evaluate(_CHOOSE, scenario)
        if others is not None:
            there = ", ".join(others) or "none"
            raise DrawingError(f"The report has no pictures of {scenario or 'a scenario'}. It has: {there}.")
        page.screenshot(path=picture, full_page=True, timeout=_PATIENCE)
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python docs/draw_report.py RUN [SCENARIO]")
    try:
        draw(Path(sys.argv[1]), *sys.argv[2:])
    except DrawingError as error:
        sys.exit(str(error))
    print(PICTURE)
