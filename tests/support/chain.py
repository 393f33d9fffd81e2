"""Calls methods of drivers individually on an emulated device with its chips, and records which
were called.

A call exercises the whole chain: compiler, firmware, gateware, chip on the bench.
"""

import inspect
import linecache

from numpy import int64

from kairos.coredevice.parts.channel import RTIODevice
from kairos.devices import DeviceManager
from kairos.language import delay_mu, kernel, now_mu
from kairos.testing import Bench

__all__ = ["Chain", "attenuation_db", "device_methods"]

SETTLED_MU = 2000
"""Machine units after which data sent have taken effect at a chip's output."""
KERNEL = f"""
@kernel
def run(self):
    self.core.break_realtime()
    delay_mu(self.slack_mu)
    self.began = now_mu()
    result = self.method({{arguments}})
    self.ended = now_mu()
    self.core.wait_until_mu(now_mu() + {SETTLED_MU})
    return result
"""


def caller(count: int, names: tuple[str, ...]):
    """Build a class whose objects call a method in a kernel, with `count` positional and the named
    arguments."""
    arguments = [f"self.args[{n}]" for n in range(count)] + [f"{name}=self.named_{name}" for name in names]
    source = KERNEL.format(arguments=", ".join(arguments))
    place = f"a call with {', '.join(map(str, (count, *names)))}"
    # Where the compiler reads it
    linecache.cache[place] = (len(source), None, source.splitlines(True), place)
    scope = {"kernel": kernel, "delay_mu": delay_mu, "now_mu": now_mu}
    exec(compile(source, place, "exec"), scope)
    return type("Call", (), {"run": scope["run"], "began": int64(0), "ended": int64(0)})


class Chain:
    """A device with its bench, and the drivers of its cards, which keep their state between calls."""

    def __init__(self, device_db, file=None, **settings):
        self.bench = Bench(device_db, file, settings)
        self.devices = DeviceManager(self.bench.database)
        self.core = self.devices.get("core")
        self.advance_mu = 0
        """Distance by which the last call advanced the time cursor."""
        self._called: set[tuple[type, str]] = set()
        self.core.reset()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.devices.close_devices()
        self.bench.close()

    def __call__(self, method, *args, slack_mu=0, pins=False, **named):
        """Call a method on the device, with `slack_mu` of additional slack; returns its result, or
        raises its exception. `pins`: start a new recording of the pins."""
        call = caller(len(args), tuple(named))()
        call.core, call.method, call.args, call.slack_mu = self.core, method, args, int64(slack_mu)
        for name, value in named.items():
            setattr(call, f"named_{name}", value)
        if pins:
            self.bench.device.mark_start()
        try:
            return call.run()
        finally:
            self._called.add((type(method.__self__), method.__name__))
            self.advance_mu = int(call.ended - call.began)

    def get(self, name: str):
        """Return the driver of a device."""
        return self.devices.get(name)

    def recording(self):
        """Return the pins, recorded since the last call with `pins`."""
        self.bench.device.wait_idle(clocks=self.bench.database.free_running)
        self.bench._recording = self.bench.device.recording(self.bench.database.channel_names())
        return self.bench.recording

    def pin(self, name: str):
        """Return a pin, recorded since the last call with `pins`."""
        self.recording()
        return self.bench.pin(name)

    def pulses(self, name: str) -> list[int]:
        """Return the lengths in ns of a pin's pulses since then."""
        return [round((end - start) * 1e9) for start, end in self.pin(name).pulses]

    def uncalled(self, cls) -> set[str]:
        """Return the device methods of a driver class that have not been called."""
        return device_methods(cls) - {name for owner, name in self._called if owner is cls}


def attenuation_db(mu: int) -> float:
    """Attenuation that a card's attenuator (HMC542B) has with a setting in machine units: in steps
    of 0.5 dB, of which each is four units."""
    return (63 - (mu >> 2)) / 2


def device_methods(cls) -> set[str]:
    """Return the names of a driver's public methods that run on the device, including those of its
    bases."""
    named = {name for name, value in inspect.getmembers(cls) if not name.startswith("_") and runs_on_device(value)}
    return named - vars(RTIODevice).keys()


def runs_on_device(method) -> bool:
    info = getattr(method, "artiq_embedded", None)
    return info is not None and not info.forbidden and (info.core_name is not None or info.portable)
