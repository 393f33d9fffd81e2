"""The command `kairos selftest`: chooses the cards, the observer and the order, and writes the report."""

import contextlib
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from .. import emulator as emulation
from .. import files
from ..cli.bench import plan_of
from ..cli.printed import print_notice
from ..devices import DeviceDB, DeviceError, DeviceManager
from ..devices.agreement import numbered
from ..errors import DeviceUnreachable, KairosError, UsageError
from ..terminal_text import plain
from .calibration import calibrate, places_of
from .cards import PARTS, TESTS, Session
from .choice import chosen, entries_with, free_outputs, on_core, used
from .kernels import BOARD_MS
from .observers import ByHand, OnBench, Unattended, wiring_of
from .report import Check, Report

__all__ = ["selftest"]


def _untested(database: DeviceDB, report: Report):
    """Record the devices that have no test, and whose card has none."""
    for name, entry in database.entries.items():
        kind = entry.get("class") if isinstance(entry, dict) and entry.get("type") == "local" else None
        if kind in PARTS and PARTS[kind] is None and kind not in QUIET:
            report.open(name, "all", f"there is no test for a {kind}")


QUIET = {"Core", "CoreCache", "CoreDMA", "DDS", "SPIMaster"}
"""Devices that have no connector of their own: they are used by other tests, or by every one."""


def selftest(args) -> int:
    """Test the cards that the command line `args` names; returns 1 if a check failed."""
    choice = on_core(DeviceDB.load(args.device_db), args.core, args.twin)
    database, names = choice.database, chosen(choice, args.cards)
    if args.list:
        for name in names:
            test = TESTS[database.entries[name]["class"]]
            print(f"{name}: {'; '.join(filter(None, [test.alone, test.observed]))}")
        return 0
    if args.write_eeprom:
        places_of(database)
    began = time.monotonic()
    report = Report(_telling(args))
    host = database.arguments("core").get("host")
    there = choice.wired()
    with _observed(args, there, host) as (observer, source, inputs):
        devices = DeviceManager(database)
        session = Session(database, devices, observer, report, source, inputs, args.write_eeprom)
        try:
            _reset(session, there)
            _test_all(session, names)
        finally:
            devices.close_devices()
    choice.record(report, args.cards)
    if not args.cards:
        _untested(there, report)
    about = f"{time.strftime('%Y-%m-%d %H:%M:%S')}, on {host}, in {time.monotonic() - began:.0f} s."
    files.write(args.output, report.page(Path(args.device_db).name, about).encode())
    if args.json:
        print(report.json())
    print_notice(f"{report.summary()}; report in {args.output}")
    return int(bool(report.failed))


def _reset(session: Session, there: DeviceDB):
    """Reset all outputs, once the boards of the database `there` can be reached: after a start that takes a while.
    UsageError if there is no driver for the core device."""
    try:
        kernels = session.kernels()
    except DeviceError as error:
        raise UsageError(str(error)) from None
    for board in sorted({channel >> 16 for *_, channel in numbered(there.entries)} - {0}):
        if not kernels.board_answers(board):
            text = f"no answer within {BOARD_MS / 1000:g} s: 'kairos links' shows the links"
            session.report.fact(f"board {board}", "it can be reached", False, text)
    kernels.reset()


def _test_all(session: Session, names: list[str]):
    """Test the cards in their order, up to one before which the device has gone."""
    for n, name in enumerate(names):
        try:
            _test(session, name)
        except DeviceUnreachable as error:
            session.report.fact(name, "the device answers", False, str(error))
            for left in names[n + 1 :]:
                session.report.open(left, "all", f"the device did not answer before the test of {name}")
            return


def _test(session: Session, name: str):
    """Test a card. DeviceUnreachable if there is no device for it."""
    try:
        if session.calibrates:
            calibrate(session, name)
        TESTS[session.database.entries[name]["class"]].run(session, name)
    except DeviceUnreachable:
        raise
    except KairosError as error:
        session.report.fact(name, "the test ran to its end", False, str(error))
    except Exception as error:  # of a driver, raised on the device: the card does not answer as it should
        reason = str(error).strip().splitlines() or [""]
        session.report.fact(name, "the test ran to its end", False, f"{type(error).__name__}: {reason[0]}")


def _telling(args):
    """Return the function that prints each check, unless they are printed as JSON at the end."""

    def notify(check: Check):
        limits = f" (limits: {check.limits})" if check.limits and check.passed is False else ""
        state = "not made" if check.passed is None else check.state
        value = f": {check.shown}" if check.shown else ""
        print(plain(f"{state:8} {check.card}: {check.what}{value}{limits}"))

    if args.json:
        return lambda check: None
    if args.quiet:
        return lambda check: notify(check) if check.passed is False else None
    return notify


def _write_bench(file: str, database: DeviceDB, source: str | None, inputs: list[str]):
    """Write the bench file of the selftest. UsageError if the database does not fit the gateware."""
    Path(file).write_text(wiring_of(database, plan_of(database, None), source, inputs))
    try:
        plan_of(database, file)
    except UsageError as error:
        # The user knows nothing of this file
        found = re.sub(re.escape(file) + r":(\d+:)? *", "", str(error))
        text = f"{database.path} does not fit the gateware: {found}"
        raise UsageError(f"{text}; 'kairos device doctor' shows what differs") from None


@contextlib.contextmanager
def _observed(args, database: DeviceDB, host):
    """Yield the observer, the TTL output that inputs are tested with, and the inputs; the emulated device, if
    it is one, ends with the block."""
    outputs, taken = free_outputs(database), used(database)
    source = outputs[0] if outputs else None
    inputs = [name for name in entries_with(database, "TTLInOut") if name not in taken]
    if not emulation.is_emulated(host):
        by_hand = not args.no_questions and sys.stdin is not None and sys.stdin.isatty()
        yield ByHand() if by_hand else Unattended(), source, inputs
        return
    if emulation.is_running(host):
        raise UsageError(f"this process already has a device {host}: close that one first")
    with tempfile.TemporaryDirectory(prefix="kairos-selftest-") as folder:
        file = os.path.join(folder, "selftest.toml")
        _write_bench(file, database, source, inputs)
        device = emulation.acquire(host, emulation.Options(bench=file, entries=database.entries))
        try:
            yield OnBench(device, database), source, inputs
        finally:
            device.stop()
