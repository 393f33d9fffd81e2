"""Times as typed on the command line, in zones whose clocks are put forward and back."""

import time
from datetime import UTC, datetime

import pytest

from kairos.cli.submit import moment
from kairos.errors import CommandLineError

CENTRAL_EUROPE = "CET-1CEST,M3.5.0,M10.5.0/3"
"""2026: forward on March 29 at 1:00 UTC, back on October 25 at 1:00 UTC."""
LORD_HOWE = "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
"""Half an hour: back on April 5 at 15:00 UTC of the day before."""
SAMOA = "<+13>-13"


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.fixture
def zone(monkeypatch):
    def set_zone(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()


def test_due_time_follows_one_rule_when_clocks_are_put_forward_and_back(zone):
    for name, now, typed, expected in [
        (CENTRAL_EUROPE, "2026-01-10 12:00", "14:00", "2026-01-10 13:00"),
        (CENTRAL_EUROPE, "2026-01-10 12:00", "13:00", "2026-01-11 12:00"),
        (CENTRAL_EUROPE, "2026-03-28 22:00", "06:00", "2026-03-29 04:00"),
        (CENTRAL_EUROPE, "2026-03-28 22:00", "02:30", "2026-03-29 01:30"),  # skipped: 3:30
        (CENTRAL_EUROPE, "2026-03-29 00:59", "02:30:15", "2026-03-29 01:30:15"),
        (CENTRAL_EUROPE, "2026-03-29 01:31", "02:30", "2026-03-30 00:30"),
        (CENTRAL_EUROPE, "2026-10-24 20:00", "02:30", "2026-10-25 00:30"),  # the first of two
        (CENTRAL_EUROPE, "2026-10-25 00:45", "02:30", "2026-10-25 01:30"),  # the second is next
        (CENTRAL_EUROPE, "2026-10-25 01:15", "02:30", "2026-10-25 01:30"),
        (CENTRAL_EUROPE, "2026-10-25 01:31", "02:30", "2026-10-26 01:30"),
        (CENTRAL_EUROPE, "2026-10-25 00:30", "03:00", "2026-10-25 02:00"),
        (LORD_HOWE, "2026-04-04 14:50", "01:45", "2026-04-04 15:15"),
        (SAMOA, "2026-06-01 10:30", "23:45", "2026-06-01 10:45"),
        (SAMOA, "2026-06-01 10:50", "23:45", "2026-06-02 10:45"),
        (CENTRAL_EUROPE, "2026-01-01 00:00", "2026-03-29T02:30", "2026-03-29 01:30"),
        (CENTRAL_EUROPE, "2026-01-01 00:00", "2026-10-25T02:30", "2026-10-25 00:30"),
        (CENTRAL_EUROPE, "2026-01-01 00:00", "2026-10-25T02:30+01:00", "2026-10-25 01:30"),
        (SAMOA, "2026-01-01 00:00", "2026-05-01T10:00Z", "2026-05-01 10:00"),
    ]:
        zone(name)
        found = datetime.fromtimestamp(moment(typed, utc(now)), UTC)
        assert found == datetime.fromtimestamp(utc(expected), UTC), (name, now, typed, found)


def test_text_that_is_no_time_is_refused_with_an_example():
    for text in ("", "25:00", "22:60", "tomorrow", "0001-01-01", "99999-01-01", "\ud800"):
        with pytest.raises(CommandLineError, match="is not a time: give 22:30, or"):
            moment(text)
