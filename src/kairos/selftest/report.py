"""Results of a selftest: checks with their limits, as lines, as JSON, and as an HTML page."""

import html
import json
from dataclasses import asdict, dataclass

__all__ = ["Check", "Report"]

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Selftest of {database}</title>
<style>
body {{ font: 15px sans-serif; margin: 2em auto; max-width: 60em; }}
table {{ border-collapse: collapse; width: 100%; margin: 0 0 1.5em; }}
td, th {{ text-align: left; padding: 0.2em 0.6em; border-bottom: 1px solid #ccc; vertical-align: top; }}
td:first-child {{ width: 6.5em; }}
.passed {{ color: #17692a; }} .failed {{ color: #a5141e; font-weight: bold; }} .open {{ color: #6b6b6b; }}
</style>
<h1>Selftest of {database}</h1>
<p>{summary}</p>
<p>{about}</p>
{tables}
</html>
"""


@dataclass(frozen=True)
class Check:
    """One check of a card. `passed`: None if it was not made; then `value` says why."""

    card: str
    what: str
    passed: bool | None
    value: object
    unit: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def state(self) -> str:
        return {True: "passed", False: "failed", None: "open"}[self.passed]

    @property
    def shown(self) -> str:
        """Value and unit."""
        value = f"{self.value:.9g}" if isinstance(self.value, float) else str(self.value)
        return f"{value} {self.unit}".strip()

    @property
    def limits(self) -> str:
        if self.low is None:
            return ""
        if self.low == self.high:
            return f"{self.low:.9g} {self.unit}".strip()
        return f"{self.low:.9g} to {self.high:.9g} {self.unit}".strip()


class Report:
    """Checks in the order in which they were made. `notify`: called with each."""

    def __init__(self, notify=lambda check: None):
        self.checks: list[Check] = []
        self._notify = notify

    def add(self, check: Check):
        self.checks.append(check)
        self._notify(check)

    def number(self, card: str, what: str, value, low, high, unit=""):
        """Record a number, which must be at least `low` and at most `high`; None: it was not measured."""
        if value is None:
            return self.open(card, what, "not measured")
        value = value.item() if hasattr(value, "item") else value  # a NumPy integer of a kernel
        self.add(Check(card, what, bool(low <= value <= high), value, unit, low, high))

    def near(self, card: str, what: str, value, wanted, within, unit=""):
        """Record a number, which must be `wanted`, up to `within`."""
        self.number(card, what, value, wanted - within, wanted + within, unit)

    def fact(self, card: str, what: str, passed: bool, value=""):
        """Record whether something is as it must be; `value`: how it is."""
        self.add(Check(card, what, bool(passed), value))

    def open(self, card: str, what: str, why: str):
        """Record a check that was not made."""
        self.add(Check(card, what, None, why))

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.passed is False]

    def summary(self) -> str:
        """The numbers of checks in one line."""
        counts = {state: sum(check.state == state for check in self.checks) for state in ("passed", "failed", "open")}
        cards = len({check.card for check in self.checks})
        return (
            f"{cards} card{'' if cards == 1 else 's'}: {counts['passed']} checks passed, "
            f"{counts['failed']} failed, {counts['open']} not made"
        )

    def json(self) -> str:
        """One object per line."""
        return "\n".join(json.dumps(asdict(check)) for check in self.checks)

    def page(self, database: str, about: str) -> str:
        """The report as an HTML page that needs nothing else. `about`: when and on what it was made."""
        tables = []
        for card in dict.fromkeys(check.card for check in self.checks):
            rows = [_row(check) for check in self.checks if check.card == card]
            head = "<tr><th>Result</th><th>Check</th><th>Value</th><th>Limits</th></tr>"
            tables.append(f"<h2>{html.escape(card)}</h2>\n<table>\n{head}\n" + "\n".join(rows) + "\n</table>")
        return _PAGE.format(
            database=html.escape(database),
            summary=html.escape(self.summary()),
            about=html.escape(about),
            tables="\n".join(tables),
        )


def _row(check: Check) -> str:
    state = "not made" if check.passed is None else check.state
    cells = (check.what, check.shown, check.limits)
    others = "".join(f"<td>{html.escape(text)}</td>" for text in cells)
    return f'<tr><td class="{check.state}">{state}</td>{others}</tr>'
