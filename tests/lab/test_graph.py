"""The graph of calibrations: its order, its problems, and which parameters are stale."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos.experiment.calibration import Calibration, Rule, condition
from kairos.lab.graph import Graph, age_text, states, unmet
from kairos.lab.live import Written

HOUR = 3600.0


def entry(sets, needs=(), **more):
    return {
        "calibration": {
            **Calibration({key: Rule(**rule) for key, rule in sets.items()}, list(needs)).describe(),
            **more,
        }
    }


def graph(**entries):
    return Graph(entries)


def test_calibrations_are_ordered_by_their_needs():
    made = graph(
        Gate=entry({"gate": {}}, ["rabi", "heating"]),
        Rabi=entry({"rabi": {}}, ["detuning"]),
        Detuning=entry({"detuning": {}, "field": {}}),
        Other={"arginfo": {}},
    )
    assert made.order == ["Detuning", "Rabi", "Gate"] and made.problems == []
    assert made.chosen(["rabi"]) == ["Detuning", "Rabi"] and made.chosen([]) == made.order
    assert made.chosen(["Detuning"]) == made.chosen(["field"]) == ["Detuning"]
    assert made.parameters() == ["detuning", "field", "gate", "heating", "rabi"]
    with pytest.raises(LookupError, match="heating"):
        made.chosen(["heating"])


def test_loop_and_two_experiments_of_one_parameter_are_reported():
    made = graph(A=entry({"a": {}}, ["b"]), B=entry({"b": {}}, ["a"]), C=entry({"a": {}}))
    assert sorted(made.order) == ["A", "B", "C"]
    assert made.problems == [
        "a is set by 'A' and 'C': the first one is used",
        "calibrations need one another in a loop: A → B → A",
    ]


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=4)))
def test_order_of_any_graph_has_every_calibration_once(needs):
    made = Graph({name.upper(): entry({name: {}}, of) for name, of in needs.items()})
    assert sorted(made.order) == sorted(name.upper() for name in needs)
    if not made.problems:
        for name in made.order:
            assert all(made.order.index(other) < made.order.index(name) for other in made.needed(name))


def test_parameter_is_stale_by_age_or_by_its_needs():
    made = graph(
        Rabi=entry({"rabi": {"validity": HOUR}}, ["detuning"]), Detuning=entry({"detuning": {"validity": 2 * HOUR}})
    )

    def found(rabi, detuning, now=10 * HOUR):
        written = {"rabi": Written(*rabi, 1, None), "detuning": Written(*detuning, 2, None)}
        seen = states(made, ["rabi", "detuning", "none", "kept"], written, lambda key: key != "none", now)
        return {key: state.reason for key, state in seen.items()}

    fresh = (9.5 * HOUR, 9.5 * HOUR)
    assert found(fresh, (9 * HOUR, 9.2 * HOUR)) == {"rabi": "", "detuning": "", "none": "it has no value", "kept": ""}
    assert found((8 * HOUR, 8 * HOUR), (7.5 * HOUR, 7.5 * HOUR)) == {
        "rabi": "it is 2 h old, and valid for 60 min",
        "detuning": "it is 2.5 h old, and valid for 2 h",
        "none": "it has no value",
        "kept": "",
    }
    assert found(fresh, (9.7 * HOUR, 9.7 * HOUR))["rabi"] == "detuning has changed since"
    assert found(fresh, (9.1 * HOUR, 9.7 * HOUR))["rabi"] == "", "it was only checked"
    assert found((8 * HOUR, 9.5 * HOUR), (9 * HOUR, 9 * HOUR))["rabi"] == "", "its check came after"
    assert found(fresh, fresh, now=HOUR)["rabi"] == "", "the clock was set back"
    unknown = states(made, ["rabi"], {}, lambda key: True, 0.0)["rabi"]
    assert (unknown.state, unknown.reason) == ("stale", "it is not known when it was set")


def test_conditions_compare_numbers_booleans_and_texts():
    values = {"ions": 2, "loaded": True, "kind": "Ca+"}
    for text in ("ions>=1", "ions = 2", "ions!=3", "loaded=true", "kind='Ca+'", 'kind="Ca+"', "kind!=Sr+"):
        assert unmet(Calibration(when=[text]), values.__getitem__) is None, text
    assert unmet(Calibration(when=["ions>=1", "ions>2"]), values.__getitem__) == "ions>2 does not hold"
    assert unmet(Calibration(when=["kind>2"]), values.__getitem__) == "kind>2 does not hold"
    assert unmet(Calibration(when=["gone>2"]), values.__getitem__) == "gone>2 does not hold: there is no gone"
    for text in ("", "ions", ">= 1", "ions >="):
        with pytest.raises(ValueError, match="is no condition"):
            condition(text)


def test_rule_objects_to_values_beyond_its_limits():
    rule = Rule(minimum=1.0, maximum=10.0, change=0.1)
    for value, before, reason in [
        (5.0, None, None),
        (5.4, 5.0, None),
        (5.6, 5.0, "it has changed by 0.12 of it, more than 0.1"),
        (5.0, 0.0, "it has changed from 0, more than 0.1"),
        (5.0, "text", None),
        (0.5, 0.5, "it is below 1"),
        (11, 10.5, "it is above 10"),
        (float("nan"), 5.0, "it is no number"),
        (float("inf"), 5.0, "it is no number"),
        ([5.0, 5.0], 5.0, "it is no number"),
        (None, 5.0, "it is no number"),
    ]:
        assert rule.objection(value, before) == reason, value
    assert Rule().objection([1, 2]) is None and Rule(by_hand=True).objection(5) == "it is accepted by hand only"
    assert Rule(minimum=-1, change=0.5).objection(-0.5, -0.9) is None


@pytest.mark.parametrize(
    "seconds, text",
    [(-3, "0 s"), (0, "0 s"), (59.6, "60 s"), (119, "119 s"), (120, "2 min"), (5400, "90 min"), (9000, "2.5 h")]
    + [(86400, "24 h"), (172800, "2 days"), (86400 * 30, "30 days")],
)
def test_age_is_written_in_fitting_units(seconds, text):
    assert age_text(seconds) == text
