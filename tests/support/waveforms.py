"""Recordings of pins, read independently of the project."""

import re


def pulses_of_vcd(text, complete=True):
    """Return channel to list of (start, end) in ns. If not `complete`, unfinished pulses are left
    out."""
    names = dict(re.findall(r"\$var wire 1 (\S+) (\S+) \$end", text))
    pulses, since, time = {name: [] for name in names.values()}, {}, 0
    for word in text.split("$enddefinitions $end\n")[1].split():
        if word.startswith("#"):
            time = int(word[1:])
        elif word[0] in "01z":
            name = names[word[1:]]
            if word[0] == "1":
                since.setdefault(name, time)
            elif name in since:
                pulses[name].append((since.pop(name), time))
    assert not (complete and since), "a pulse has no end"
    return pulses


def pulses_of_trace(trace):
    """Return number of a channel, with the destination of its board in bits 23..16, to list of
    (start, end) in ns, from the pin data of the emulator's control socket (docs/interfaces.md,
    section 7).
    """
    channels = {pad["index"]: pad["channel"] for pad in trace["pads"]}
    pulses, since = {channel: [] for channel in channels.values()}, {}
    for time, pad, level in trace["events"]:
        if level:
            since.setdefault(pad, time)
        elif pad in since:
            pulses[channels[pad]].append((since.pop(pad), time))
    return pulses


def changes_of_vcd(text):
    """Return channel to list of (time in ns, level) at which its level changes, including the
    first."""
    names = dict(re.findall(r"\$var wire 1 (\S+) (\S+) \$end", text))
    changes, time = {name: [] for name in names.values()}, 0
    for word in text.split("$enddefinitions $end")[1].split():
        if word.startswith("#"):
            time = int(word[1:])
        elif word[0] in "01zx" and word[1:] in names:
            own = changes[names[word[1:]]]
            if not own or own[-1][1] != word[0]:
                own.append((time, word[0]))
    return changes


def expected_blink(pulses=5, length=2000):
    """(start, end) in ns of each pulse of `examples/blink.py`, on ttl4 and on ttl5."""
    ttl4, ttl5, time = [], [], 0
    for i in range(pulses):
        ttl4.append((time, time + (i + 1) * length))
        ttl5.append((time + 1000, time + 1000 + length))
        time += max((i + 1) * length, 1000 + length) + 3000
    return ttl4, ttl5
