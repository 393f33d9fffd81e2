"""The state of parameters and calibrations as a message."""

from ... import pyon
from .. import clock
from .protocol import message
from .values import number

__all__ = ["calibrations"]


def calibrations(lab):
    """Return the message FollowCalibrationsResponse."""
    graph = lab.calibrator.graph()
    return message(
        "FollowCalibrationsResponse",
        parameters=[_state(each) for each in lab.calibrator.states(graph).values()],
        calibrations=[
            message(
                "Calibration",
                name=name,
                sets=list(made.sets),
                needs=made.needs,
                when=made.when,
                checks=name in graph.checks,
                on_failure=made.on_failure,
            )
            for name, made in ((name, graph.calibrations[name]) for name in graph.order)
        ],
        problems=graph.problems,
        sessions=[_session(each) for each in lab.calibrator.sessions()],
        proposals=[_proposed(lab, row) for row in lab.proposals.waiting()],
        time=clock.now(),
    )


def _state(state):
    return message(
        "ParameterState",
        key=state.key,
        state=state.state,
        reason=state.reason,
        calibration=state.calibration or "",
        validity=state.validity or 0.0,
        changed=state.written.changed if state.written else 0.0,
        confirmed=state.written.confirmed if state.written else 0.0,
    )


def _session(session):
    return message(
        "CalibrationSession",
        number=session.number,
        person=session.person or "",
        started=session.started,
        ended=session.ended or 0.0,
        steps=[
            message("CalibrationStep", name=step.name, state=step.state, reason=step.reason, rid=step.rid)
            for step in session.steps
        ],
    )


def _proposed(lab, row):
    known = lab.datasets.values.get(row["key"])
    metadata = {**(known[2] if known else {}), **pyon.decode(row["metadata"])}
    return message(
        "ProposedValue",
        number=row["id"],
        key=row["key"],
        value=row["value"],
        before=pyon.encode(known[1]) if known else "",
        time=row["time"],
        rid=row["rid"],
        objection=row["objection"] or "",
        unit=str(metadata.get("unit") or ""),
        scale=number(metadata.get("scale"), 0.0),
    )
