"""The page about costs has every limit as it is judged by."""

from pathlib import Path

from harness.judge.costs.limits import shipped_limits

PAGE = Path(__file__).parents[2] / "docs" / "costs.md"
BEGIN, END = "<!-- limits -->\n", "<!-- end of limits -->\n"


def everywhere(limit) -> str:
    return f"{limit.everywhere:g}" if limit.everywhere else ""


def table() -> str:
    rows = [
        f"| `{limit.figure}` | {limit.least:g} {limit.unit} | {limit.ratio:g} | {everywhere(limit)} | {limit.reason} |"
        for limit in shipped_limits()
    ]
    return "\n".join(("| figure | least | ratio | everywhere | because |", "|---|---|---|---|---|", *rows)) + "\n"


def written_anew(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


def test_the_table_of_limits_is_that_of_the_data():
    page = PAGE.read_text("utf-8")
    assert page == written_anew(page), "write it anew: python tests/unit/test_cost_limits_page.py"


if __name__ == "__main__":
    PAGE.write_text(written_anew(PAGE.read_text("utf-8")), encoding="utf-8")
