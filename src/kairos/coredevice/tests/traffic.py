"""Activity of drivers on their RTIO channels, with their kernels executed on this machine: for the
tests of drivers."""

from dataclasses import dataclass

from kairos import compat
from kairos.compiler.tests.jit import Compiled
from kairos.devices import DeviceDB, DeviceManager

compat.install()

CORE = {"host": None, "ref_period": 1e-9, "target": "cortexa9"}


def entry(driver, **arguments):
    """Return an entry of a device database; `driver`: module and class."""
    module, cls = driver.split(".")
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}


def devices(entries):
    """Return a device manager with a core and these entries, given as (driver, arguments)."""
    known = {name: entry(driver, **arguments) for name, (driver, arguments) in entries.items()}
    return DeviceManager(DeviceDB({"core": entry("core.Core", **CORE)} | known))


@dataclass
class Traffic:
    """outputs: (time, channel, address, data); reads: arguments of the awaited inputs; with the
    result and the final cursor."""

    outputs: list
    reads: list
    value: object
    now: int

    def on(self, *channels):
        """Return (address, data) of the outputs to these channels."""
        return [(address, data) for _, channel, address, data in self.outputs if channel in channels]

    def words(self, channel):
        """Return for each SPI transfer: chip select, length, divider, whether it ends the message,
        and the data."""
        return [transfer[1:] for transfer in self.transfers(channel)]

    def transfers(self, channel):
        """As `words`, each with its time first."""
        found, config = [], None
        for time, number, address, data in self.outputs:
            if number == channel and address == 1:
                config = data
            elif number == channel:
                length = (config >> 8 & 31) + 1
                found.append(
                    (time, config >> 24, length, (config >> 16 & 255) + 2, bool(config & 2), data >> 32 - length)
                )
        return found


def run(method, *args, data=(), times=(), counter=0, i2c=b""):
    """Run a driver's kernel from time 0 on. `data`: of the input events it reads; `times`: their
    times, where it requests them; `i2c`: bytes that it reads there; an exception is raised here."""
    data, times, i2c = iter(data), iter(times), iter(i2c)
    firmware = {
        "rtio_input_data": lambda channel: _signed(next(data)),
        "rtio_input_timestamp": lambda timeout, channel: next(times, -1),
        "rtio_input_timestamped_data": lambda timeout, channel: next(((0, _signed(word)) for word in data), (-1, 0)),
        "rtio_output_wide": lambda target, words: None,
        "rtio_get_counter": lambda: counter,
        "i2c_write": lambda bus, byte: True,
        "i2c_read": lambda bus, ack: next(i2c),
        **dict.fromkeys(["i2c_start", "i2c_restart", "i2c_stop"], lambda bus: None),
        "i2c_switch_select": lambda bus, address, mask: None,
        "remote_bridge": lambda destination, what, value: 0,
        "remote_export": lambda destination, region, address, size, rights, shown, only: None,
    }
    result = Compiled(method, args, method.__self__.core).run(firmware=firmware)
    if result.exception is not None:
        raise KernelError(f"{result.exception[0]}: {result.message}")
    outputs = [(*values[:2], values[2] & 0xFFFFFFFF) for name, values in result.calls if name == "rtio_output"]
    return Traffic(
        [(time, target >> 8, target & 0xFF, word) for time, target, word in outputs],
        [values for name, values in result.calls if name.startswith("rtio_input")],
        result.value,
        result.now,
    )


class KernelError(Exception):
    """A kernel ended with the exception of this name and message."""


def _signed(word):
    return word - (1 << 32) if word >> 31 and word > 0 else word


def cycles(length, div):
    """Machine units of an SPI transfer with its configuration (specification, section 6)."""
    return 8 * (1 + (length + 1) * div + 1)
