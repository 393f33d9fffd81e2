"""The order of runs, decided for random queues, and the index, compared with a search through all records."""

import random
from dataclasses import dataclass
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as some

from kairos.lab import history, order
from kairos.lab.database import Database
from kairos.lab.queue import Queue, Submission

NOW = 1000.0


@dataclass(eq=False)
class Run:
    submission: Submission
    status: str = "pending"


@some.composite
def queues(draw):
    count = draw(some.integers(1, 8))
    return [
        Run(
            Submission(
                rid,
                "main",
                {},
                priority=draw(some.integers(-1, 1)),
                due_date=draw(some.sampled_from([None, None, 500.0, 2000.0])),
                flush=draw(some.booleans()),
                position=float(rid),
                held=draw(some.sampled_from([None, None, None, "held"])),
                after=draw(some.sampled_from([None, None, rid - 1])) if rid else None,
            )
        )
        for rid in range(count)
    ]


def may_start(run, unmet) -> bool:
    return run.submission.held is None and order.is_due(run, NOW) and not unmet(run.submission)


@given(queues(), some.data())
def test_order_of_random_queue_is_kept_until_only_those_wait_that_must(runs, data):
    """Runs pass the stages, one at a time, until nothing changes any more; each that waits has a reason."""
    all_runs, passed, after = list(runs), [], {"preparing": "prepare_done", "running": "run_done", "analyzing": "end"}

    def unmet(submission):
        return submission.after is not None and submission.after not in passed

    for _ in range(200):
        while changes := [(run, to) for run, to in order.chosen(runs, NOW, unmet) if run.status != to]:
            for run, to in changes:
                if to == "preparing":
                    better = [r for r in runs if r.status in order.WAITING and may_start(r, unmet)]
                    assert all(r.submission.rank <= run.submission.rank for r in better)
                if to == "running":
                    assert all(
                        r.submission.rank <= run.submission.rank for r in runs if r.status in ("prepare_done", "paused")
                    )
                run.status = to
        for status in after:
            assert sum(run.status == status for run in runs) <= 1
        active = [run for run in runs if run.status in after]
        if not active:
            break
        run = data.draw(some.sampled_from(active))
        pauses = run.status == "running" and order.should_pause(run, runs)
        run.status = "paused" if pauses else after[run.status]
        if run.status == "end":
            runs.remove(run)
            passed.append(run.submission.rid)
    reasons = [order.Reasons(runs, NOW, unmet).why(run) for run in runs]
    assert all(reasons), list(zip(runs, reasons, strict=True))
    common = order.Reasons(runs, NOW, unmet)
    assert [common.why(run) for run in runs] == reasons
    assert not any(may_start(run, unmet) for run in runs)
    assert len(passed) + len(runs) == len(all_runs)


def test_reasons_of_a_long_queue_read_each_run_less_than_five_times():
    runs = [Run(Submission(rid, "main", {}, position=float(rid), after=0)) for rid in range(500)]
    looks = []
    reasons = order.Reasons(runs, NOW, lambda submission: looks.append(submission), lambda run: looks.append(run))
    said = [reasons.why(run) for run in runs]
    assert said == [None, *["run 0 goes first"] * 499] and len(looks) < 5 * len(runs)


RECORDS = some.lists(
    some.fixed_dictionaries(
        {
            "rid": some.integers(0, 30),
            "class_name": some.sampled_from(["Rabi", "Ramsey", "100%"]),
            "status": some.sampled_from(["completed", "failed"]),
            "person": some.sampled_from(["anna", None]),
            "repo_rev": some.sampled_from(["abc1", "def2"]),
            "started": some.sampled_from([100.0, 200.0]),
            "arguments": some.dictionaries(some.sampled_from(["n", "x"]), some.sampled_from(["1", "2.5", '"a"', "10"])),
        }
    ),
    max_size=12,
)
CONDITIONS = {
    "rabi": lambda run: run["class_name"] == "Rabi",
    "0%": lambda run: run["class_name"] == "100%",
    "status=failed": lambda run: run["status"] == "failed",
    "person=anna": lambda run: run["person"] == "anna",
    "def": lambda run: run["repo_rev"] == "def2",
    "repo_rev!=abc1": lambda run: run["repo_rev"] != "abc1",
    "started>=150": lambda run: run["started"] >= 150,
    "rid>=10": lambda run: run["rid"] >= 10,
    "n>1": lambda run: number(run, "n") is not None and number(run, "n") > 1,
    "n<=2.5": lambda run: number(run, "n") is not None and number(run, "n") <= 2.5,
    "x=a": lambda run: run["arguments"].get("x") == '"a"',
}


def number(run, name):
    text = run["arguments"].get(name, '"')
    return None if text.startswith('"') else float(text)


@settings(max_examples=40)
@given(RECORDS, some.sets(some.sampled_from(sorted(CONDITIONS))))
def test_search_of_random_runs_finds_those_that_match(records, words):
    database = Database("sqlite://")
    with database.change() as change:
        history.enter(change, records[:5])
        history.enter(change, records[5:])
    newest = {record["rid"]: record for record in records}
    matching = [rid for rid, run in newest.items() if all(CONDITIONS[word](run) for word in words)]
    found = [run["rid"] for run in history.records(database, sorted(words))]
    assert found == sorted(matching, reverse=True)
    for many in (history.MANY, 1):  # whatever the way in which they are found
        with patch.object(history, "MANY", many):
            assert [run["rid"] for run in history.records(database, sorted(words), 2)] == found[:2]
            assert [run["rid"] for run in history.records(database, sorted(words), 100)] == found
    database.close()


def test_runs_are_searched_for_by_any_text():
    database = Database("sqlite://")
    with database.change() as change:
        given = {"rid": 1, "status": "failed", "file": "d\udcff/x.py", "arguments": {"name": '"a\\udcff"'}}
        history.enter(change, [{**given, "error": "of \0 the user"}])
    for word in ("d\udcff", "D\udcff/X", "d?", "file=d\udcff/x.py", "\0", "status=failed"):
        assert [row["rid"] for row in history.records(database, [word])] == [1], ascii(word)
    for word in ("e\udcff", "tag=\udcff", "name=\udcff", "name!=\0", "\udcff=1"):
        history.records(database, [word])
    database.close()


def test_order_is_kept_however_often_runs_are_moved_between_each_other():
    database = Database("sqlite://")
    queue = Queue(database, Numbers())
    runs = {rid: queue.submit(pipeline="main", expid={}) for rid in range(5)}
    elsewhere = queue.submit(pipeline="other", expid={}, priority=3)
    wanted, chance = [0, 1, 2, 3, 4], random.Random(1)
    for number in range(400):
        # At first always into the same gap, which halves each time.
        rid, other = (wanted[3], wanted[2]) if number < 200 else chance.sample(wanted, 2)
        before = number < 200 or chance.random() < 0.5
        runs |= {each.rid: each for each in queue.move(runs[rid], runs[other], before, list(runs.values()))}
        wanted.remove(rid)
        wanted.insert(wanted.index(other) + (not before), rid)
        assert [each.rid for each in sorted(runs.values(), key=lambda each: each.rank, reverse=True)] == wanted, number
    assert {each.rid: each for each in queue.load() if each.pipeline == "main"} == runs
    late = queue.submit(pipeline="main", expid={})
    assert all(late.rank < each.rank for each in runs.values()), "what is submitted goes behind the others"
    (moved,) = queue.move(elsewhere, runs[wanted[0]], True, [*runs.values(), elsewhere])
    assert (moved.pipeline, moved.priority) == ("main", 0) and moved.rank > runs[wanted[0]].rank
    database.close()


class Numbers:
    """Numbers of runs without a file."""

    def get(self, above: int) -> int:
        return above + 1
