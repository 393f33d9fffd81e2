"""Programs that a device executes as a unit."""

from contextlib import contextmanager

from .errors import HubError

__all__ = ["Program"]


class Program:
    """Accesses that a device executes as a unit (docs/batch.md): each method adds a step.

    Registers are named ``block/register``. Results are words in the order in which the steps
    produce them.
    """

    def __init__(self):
        self.steps: list[dict] = []
        """Steps in the form of the protocol's messages `Step`: fields by kind."""

    def read(self, register: str):
        """The value of a register is a result; of one of more than 32 bits two, the high word first."""
        self.steps.append({"read": {"register": register}})

    def write(self, register: str, value: int, step: int = 0):
        """Set a register; in a loop the value increases by `step` per round, modulo 2^32, if it has
        at most 32 bits."""
        self.steps.append({"write": {"register": register, "value": value, "step": step % 2**32}})

    def modify(self, register: str, value: int, mask: int):
        """Set the bits of a register selected by `mask`."""
        self.steps.append({"modify": {"register": register, "value": value, "mask": mask}})

    def poll(self, register: str, value: int, mask: int, timeout: float):
        """Wait, up to `timeout` seconds, until the bits of the mask equal those of `value`; the
        value read is a result."""
        timing = {"timeout_us": round(timeout * 1e6)}
        self.steps.append({"poll": {"register": register, "value": value, "mask": mask, **timing}})

    def delay(self, seconds: float):
        """Wait for the given time, with a resolution of 1 us."""
        self.steps.append({"delay": {"us": round(seconds * 1e6)}})

    @contextmanager
    def loop(self, rounds: int):
        """Repeat the steps added in the `with` block."""
        outer, self.steps = self.steps, []
        try:
            yield self
        finally:
            inner, self.steps = self.steps, outer
        self.steps.append({"loop": {"rounds": rounds, "steps": inner}})

    def i2c(self, address: int, write: bytes = b"", read: int = 0, switch: tuple[int, int] | None = None):
        """A transaction on the board's I2C bus with the device at this address (7 bits): up to 8
        bytes are written, then up to 64 read. The bytes read are results, four per word, the first
        in the highest bits. `switch`: (address, mask) of a switch that is set before and restored
        afterwards.
        """
        fields = {"address": address, "write": bytes(write), "read": read}
        if switch is not None:
            fields["through"] = dict(zip(("address", "mask"), switch, strict=True))
        self.steps.append({"i2c": fields})

    def probe(self, channel: str, probe: int = 0):
        """The value of a probe of an RTIO channel, as two results, the high word first. For a TTL:
        0 its level, 1 whether it is driven."""
        self.steps.append({"probe": {"channel": channel, "probe": probe}})

    def override(self, channel: str, level: bool | None):
        """Hold the pin of a TTL at a level, regardless of the experiment; None: release it."""
        settings = ((0, 0),) if level is None else ((1, level), (2, 1), (0, 1))
        for number, value in settings:
            self.steps.append({"inject": {"channel": channel, "override": number, "value": int(value)}})

    def spi(
        self, channel: str, data: int, length: int, cs: int = 1, divider: int = 125, input: bool = False, **mode: bool
    ):
        """A transfer of an SPI master on an RTIO channel, between those of the experiment: `length`
        bits of `data` to the chips of `cs` (one bit each), with `divider` RTIO cycles (8 ns) per
        clock period. With `input` the bits received are a result. `mode`: clk_polarity, clk_phase,
        cs_polarity, lsb_first, half_duplex.
        """
        fields = {"channel": channel, "data": data, "length": length, "cs": cs, "divider": divider, "input": input}
        self.steps.append({"spi": fields | mode})

    def __repr__(self) -> str:
        return f"<program: {', '.join(kind for step in self.steps for kind in step)}>"

    def messages(self, step: type) -> list:
        """Return the steps as messages of the class `step`. HubError for an invalid step."""
        made = []
        for number, fields in enumerate(self.steps):
            try:
                made.append(step(**fields))
            except (TypeError, ValueError) as error:
                raise HubError(f"step {number}, {', '.join(fields)}: {error}", "INVALID_ARGUMENT") from None
        return made
