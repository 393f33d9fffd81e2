"""Notifications of a laboratory with `pyon = 1`, to the byte: as ARTIQ up to version 8 sends them, and in version 2."""

import json

import pytest

from tests.support.laboratory import Laboratory
from tests.support.raw_master import Lines, Target, literal, plain
from tests.support.waiting import until

DEVICES = 'device_db = {"core": {"type": "local", "arguments": {"host": None, "cpus": {1: "a9"}}}, "beam": "core"}\n'
NOTIFIERS = ["schedule", "devices", "datasets", "interactive_args", "explist", "explist_status"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    laboratory = Laboratory(tmp_path_factory.mktemp("lab"), "pyon = 1\n", DEVICES).start()
    until(lambda: laboratory.experiments()["experiments"])
    yield laboratory
    laboratory.close()


def received(lab, name, *features) -> tuple[Lines, str]:
    """Follows a notifier; returns the connection and the first line."""
    lines = Lines(lab.ports["notify"], "ARTIQ sync_struct", " ".join([name, *features]))
    return lines, lines.line()


ITEMS = {"__jsonclass__": ["tuple", [[1, None, True]]]}
ARRAY = {"__jsonclass__": ["nparray", [[2], "<f8", "AAAAAAAA8D8AAAAAAAAAQA=="]]}
SLICE = {"__jsonclass__": ["slice", [0, 1, None]]}
SET = '{"action": "setitem", "path": [], "key": '
CHANGES = [
    (
        ("set", "x", ITEMS),
        SET + '"x", "value": (false, (1, null, true, ), {}, )}',
        SET
        + '"x", "value": {"__jsonclass__": ["tuple", [[false, {"__jsonclass__": ["tuple", [[1, null, true]]]}, {}]]]}}',
    ),
    (
        ("set", "y", [0.5, "\u00b5'"], True, {"unit": "ms"}),
        SET + r""""y", "value": (true, [0.5, "\u00b5'"], {"unit": "ms"}, )}""",
        SET + r""""y", "value": {"__jsonclass__": ["tuple", [[true, [0.5, "\u00b5'"], {"unit": "ms"}]]]}}""",
    ),
    (
        ("update", {"action": "append", "path": ["y", 1], "x": 2}),
        '{"action": "append", "path": ["y", 1], "x": 2}',
        '{"action": "append", "path": ["y", 1], "x": 2}',
    ),
    (
        ("update", {"action": "setitem", "path": ["y", 1], "key": SLICE, "value": [7]}),
        '{"action": "setitem", "path": ["y", 1], "key": slice(0, 1, null), "value": [7]}',
        '{"action": "setitem", "path": ["y", 1], "key": {"__jsonclass__": ["slice", [0, 1, null]]}, "value": [7]}',
    ),
    (
        ("set", "z", ARRAY),
        SET + '"z", "value": (false, nparray((2, ), "<f8", b"AAAAAAAA8D8AAAAAAAAAQA=="), {}, )}',
        SET + f'"z", "value": {{"__jsonclass__": ["tuple", [[false, {json.dumps(ARRAY)}, {{}}]]]}}}}',
    ),
    (("delete", "z"), *['{"action": "delitem", "path": [], "key": "z"}'] * 2),
]


def test_changes_arrive_in_the_version_that_a_client_names(lab):
    (old, *_), (new, *_) = received(lab, "datasets"), received(lab, "datasets", "pyon_v2")
    target = Target(lab, "dataset_db")
    for (method, *given), first, second in CHANGES:
        target.call(method, *given)
        assert (old.line(), new.line()) == (f"{first}\n", f"{second}\n")
    for lines in (old, new, target):
        lines.close()


def test_structure_begins_in_the_version_that_a_client_names(lab):
    core = '{"type": "local", "arguments": {"host": null, "cpus": %s}}'
    entry = f'{{"action": "init", "struct": {{"core": {core}, "beam": "core"}}}}\n'
    for features, cpus in ([], '{1: "a9"}'), (["pyon_v2"], '{"__jsonclass__": ["dict", [[[1, "a9"]]]]}'):
        lines, first = received(lab, "devices", *features)
        assert first == entry % cpus
        lines.close()


def test_all_structures_are_the_same_in_both_versions(lab):
    waiting = lab.submit(lab.expid("Quick"), "other", 0, None, False, held="not yet")
    asking = lab.run_of("Asks")
    until(lambda: any("asks for" in (run["why"] or "") for run in lab.queue()))
    for name in NOTIFIERS:
        (old, first), (new, second) = received(lab, name), received(lab, name, "pyon_v2")
        struct = plain(json.loads(second))["struct"]
        assert literal(first) == {"action": "init", "struct": struct} and (struct or name == "datasets"), name
        assert {waiting, asking} <= struct.keys() or name != "schedule"
        old.close(), new.close()


def test_broadcast_arrives_in_the_version_that_a_client_names(lab):
    sender = Lines(lab.ports["logging"], "ARTIQ logging")

    def attempt():
        """Subscription is not acknowledged: it is there once a record comes through."""
        both = [Lines(lab.ports["broadcast"], "ARTIQ broadcast", name) for name in ("log", "log pyon_v2")]
        sender.send("laser:ERROR:driver:it is off")
        for lines in both:
            lines.socket.settimeout(0.5)
        try:
            return [lines.line() for lines in both]
        except TimeoutError:
            return None
        finally:
            for lines in both:
                lines.close()

    first, second = until(attempt)
    assert first.startswith('(40, "laser", ') and first.endswith(', "driver:it is off", )\n')
    assert second.startswith('{"__jsonclass__": ["tuple", [[40, "laser", ')
    assert literal(first)[3] == plain(json.loads(second))[3] == "driver:it is off"
    sender.close()
