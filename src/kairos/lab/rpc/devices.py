"""Core devices as messages: their state, their channels, and what is followed of them."""

from contextlib import ExitStack

from ...contracts import management
from ...errors import KairosError, UsageError
from .changes import moments
from .protocol import message

__all__ = ["channels", "follow", "follow_log", "watch"]

PERIOD = 0.1
"""Seconds between two states of what is watched."""
MOST = 20_000
"""Channels that a client may watch."""
_LINK = "destination", "up", "round_trip_us", "resent", "malformed"


async def follow(lab):
    """Yield the states of all core devices. Ends when the device database names others, so that the
    client asks again."""
    names = lab.monitors.names()
    monitors = [lab.monitors.of(name) for name in names]
    with ExitStack() as stack:
        for monitor in monitors:
            stack.enter_context(monitor.following())
        async for _ in moments([lab.device_publication, *(each.publication for each in monitors)], PERIOD):
            if lab.monitors.names() != names:
                return
            devices = [_device(each, _address(lab, each.name)) for each in monitors]
            yield message("FollowCoreDevicesResponse", devices=devices)


def _address(lab, name) -> str:
    try:
        return "{}:{}".format(*lab.monitors.address(name, management.PORT))
    except KairosError as error:
        return str(error)


def _device(monitor, address):
    return message(
        "CoreDevice",
        name=monitor.name,
        address=address,
        connected=monitor.connected,
        problem=monitor.problem,
        gateware=monitor.gateware,
        since=monitor.since,
        losses=monitor.losses,
        description=monitor.description,
        subsystems=[message("DeviceSubsystem", **each) for each in monitor.subsystems] if monitor.connected else [],
        links=[_link(each) for each in monitor.links] if monitor.connected else [],
    )


def _link(found):
    return message("DeviceLink", **{name: found[name] for name in _LINK}, firmware=found.get("firmware", ""))


def channels(monitor) -> list:
    """Return the channels of a core device."""
    return [
        message(
            "DeviceChannel",
            name=row.name,
            kind=row.kind,
            channel=row.channel,
            unit=row.unit,
            watched=row.probe is not None,
            overridable=row.is_pin,
            switch=row.switch if row.switch in monitor.rows else "",
            settings=[message("OutputSetting", **each._asdict()) for each in row.settings],
        )
        for row in monitor.rows.values()
    ]


async def watch(monitor, names):
    """Yield the states of rows, then of those that have changed."""
    if len(names) > MOST:
        raise UsageError(f"at most {MOST} channels can be watched at a time")
    names = list(dict.fromkeys(names))
    wanted, changed = frozenset(names), dict.fromkeys(names)

    def note(changes):
        changed.update((each["key"], None) for each in changes if each["key"] in wanted)

    with monitor.following(), monitor.watching(names):
        async for _ in moments([monitor.levels], PERIOD, note):
            states = [message("ChannelState", name=name, **monitor.values.get(name, {})) for name in changed]
            changed.clear()
            if states:
                yield states


async def follow_log(monitor):
    """Yield (whether these are all lines, lines)."""
    sent: list[str] = []
    first = True
    with monitor.following(log=True):
        async for _ in moments([monitor.lines], PERIOD):
            lines = monitor.log
            whole = first or lines[: len(sent)] != sent
            yield whole, lines if whole else lines[len(sent) :]
            sent, first = lines, False
