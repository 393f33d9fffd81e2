"""What waits for a client that follows datasets: whatever happened, it ends with the newest state."""

from hypothesis import given
from hypothesis import strategies as st

from kairos.lab.rpc.applets import Applets
from kairos.lab.rpc.changes import MissingChanges
from kairos.lab.values import Encoded, decoded
from tests.support.dataset_changes import happen

KEYS = "a", "b"
NUMBERS = st.floats(-1e3, 1e3)
CHANGES = st.one_of(
    st.tuples(st.just("set"), st.sampled_from(KEYS), st.lists(NUMBERS, max_size=4)),
    st.tuples(st.just("append"), st.sampled_from(KEYS), NUMBERS),
    st.tuples(st.just("assign"), st.sampled_from(KEYS), st.integers(-6, 5), NUMBERS),
    st.tuples(st.just("slice"), st.sampled_from(KEYS), NUMBERS),
    st.tuples(st.just("delete"), st.sampled_from(KEYS)),
    st.tuples(st.just("take")),
)


def value_of(message):
    return decoded(Encoded(message.kind, message.dtype, list(message.shape), message.data))


def apply(changes, seen):
    """Apply what a client receives."""
    for each in changes:
        match each.WhichOneof("change"):
            case "set":
                seen[each.key] = value_of(each.set.value)
            case "append":
                seen[each.key].extend(value_of(each.append))
            case "assign":
                for index, element in zip(each.assign.indices, value_of(each.assign.elements), strict=True):
                    seen[each.key][index] = element
            case "deleted":
                seen.pop(each.key, None)


@given(st.lists(CHANGES, max_size=40), st.booleans())
def test_client_has_the_newest_state_in_the_end(changes, at_once):
    values, seen = {"a": (False, [1.0], {})}, {}
    missing = MissingChanges(values, frozenset(KEYS), {})
    apply(missing.all(), seen)
    published = []
    for change in changes:
        if change[0] == "take":
            missing.note(published)
            published = []
            apply(missing.take(), seen)
        elif (one := happen(change, values)) is not None:
            published.append(one)
            if at_once:
                missing.note(published)
                published = []
    missing.note(published)
    apply(missing.take(), seen)
    assert seen == {key: entry[1] for key, entry in values.items()}
    assert missing.take() == []


def test_appended_elements_are_sent_alone():
    values = {"a": (False, [float(number) for number in range(10_000)], {})}
    missing = MissingChanges(values, frozenset("a"), {})
    missing.all()
    for number in range(3):
        values["a"][1].append(float(number))
        missing.note([{"action": "append", "path": ["a", 1], "x": float(number)}])
    (change,) = missing.take()
    assert value_of(change.append) == [0.0, 1.0, 2.0]


def test_long_values_are_described_unless_asked_for():
    missing = MissingChanges({"long": (True, [0.5] * 5000, {"unit": "V"})}, frozenset(), {"long": 3})
    (change,) = missing.all()
    described = change.set
    assert (described.text, list(described.shape), described.unit) == ("list of 5000", [5000], "V")
    assert described.persist and not described.HasField("value") and described.rid == 3


def test_applets_are_kept_by_name_until_disabled():
    applets = Applets()

    def issue(service, *args, **kwargs):
        applets.take("ccb", {"service": service, "args": args, "kwargs": kwargs})

    issue("create_applet", "one", "plot_xy y", group="scans")
    issue("create_applet", "two", "big_number n")
    issue("create_applet", "one", "plot_xy z", group="scans")
    issue("create_applet", 1, 2, 3, 4, 5, 6)
    issue("other")
    assert [(each.name, list(each.groups), each.command) for each in applets.messages()] == [
        ("two", [], "big_number n"),
        ("one", ["scans"], "plot_xy z"),
    ]
    issue("disable_applet", "two")
    issue("disable_applet_group", "scans")
    assert applets.messages() == []
