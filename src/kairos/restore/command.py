"""``kairos runs chips``: shows the registers of a run, or writes them back."""

import json
from pathlib import Path

from .. import emulator
from ..cli.bench import NAME
from ..cli.follow import insist
from ..cli.waveforms import chips_of, file_of, show_chips
from ..devices import DeviceDB, DeviceManager
from ..emulator.registers import state_of
from ..errors import UsageError
from ..labclient import connect
from ..waveform import chips as states
from .fits import database_before, lacking
from .plan import Plan, planned

__all__ = ["chips"]

EXPERIMENT, CLASS = Path(__file__).with_name("experiment.py"), "RestoreChips"


def chips(args) -> int:
    """Print the registers of the run of the command line, or restore them; returns 1 if that failed. UsageError."""
    if not args.restore:
        show_chips(args)
        return 0
    path = file_of(args.run, args.lab)
    if args.run.isdecimal():
        return _submitted(args, path)
    registers, devices = chips_of(path)
    database = DeviceDB.load(args.device_db)
    plan = planned(registers, devices, database, args.cards, database_before(path))
    differing = _written(plan, database)
    if args.json:
        print(json.dumps({"restored": plan.registers, "untouched": plan.untouched, "differing": differing}))
    else:
        print(f"restored {plan.sentence}")
        for line in differing or ():
            print(line)
    return int(bool(differing))


def _submitted(args, path: Path) -> int:
    """Restore in a run of the laboratory, and wait for its end."""
    lab = connect(args.lab)
    chips_of(path, args.cards)  # what the file lacks is said now
    arguments = {"results": str(path.absolute()), "cards": " ".join(args.cards)}
    rid = lab.submit({"file": str(EXPERIMENT), "class_name": CLASS, "arguments": arguments})
    if not args.json:
        print(f"run {rid}", flush=True)
    status = insist(args.lab, lambda lab: lab.wait(rid))
    if args.json:
        print(json.dumps({"rid": rid, "status": status}))
    else:
        print(f"run {rid}: {status}" if status == "completed" else f"run {rid}: {status}: {lab.run(rid)['error']}")
    return int(status != "completed")


def _written(plan: Plan, database: DeviceDB) -> list[str] | None:
    """Write to the device of a database; returns the registers that have other values afterwards, which are known of
    an emulated device only: None."""
    host = database.arguments("core").get("host")
    device = None
    if emulator.is_emulated(host):
        beside = Path(database.path).parent / NAME
        options = emulator.Options(bench=str(beside) if beside.is_file() else None, entries=database.entries)
        device = emulator.acquire(host, options)
    devices = DeviceManager(database)
    try:
        if device is not None and (gone := lacking(plan.registers, device)):
            raise UsageError(f"nothing is restored: the device has no {', '.join(gone)}, which the run has written to")
        plan.write(devices)
        if device is None:
            return None
        now = state_of(device)[0]
        return [each.text for each in states.changed(plan.registers, {key: now.get(key) for key in plan.registers})]
    finally:
        devices.close_devices()
        if device is not None:
            device.stop()
