"""``kairos moninj``: monitor pins and cards of a device, override pins, and set outputs of cards."""

from ..command import Command, Option
from ..options import DEVICE_DB, JSON, LAB, between, device

_NAMES = Option(
    "names",
    metavar="DEVICE",
    nargs="+",
    completes="device",
    help="TTL in the device database, or channel number",
)

_WATCHED = Option(
    "names",
    metavar="DEVICE",
    nargs="+",
    completes="device",
    help="TTL, Urukul DDS, DAC or ADC card in the device database, or channel number; NAME:N selects probe N",
)

_TOOLS = {
    "watch": Command(
        "print each change of levels, frequencies and voltages, until Ctrl-C",
        _WATCHED,
        Option(
            "--for",
            dest="seconds",
            type=between(0, kind=float),
            metavar="SECONDS",
            help="stop this long after the first values",
        ),
        JSON,
        runs="moninj.watch",
    ),
    "set": Command(
        "override pins with a level, regardless of experiments",
        Option("level", choices=("0", "1"), help="level to set"),
        _NAMES,
        runs="moninj.set_level",
    ),
    "output": Command(
        "set a DDS or a channel of a DAC, by a short run in the laboratory when nothing else runs",
        Option("name", metavar="OUTPUT", completes="device", help="DDS, or DAC and channel, such as zotino0:3"),
        Option(
            "values",
            metavar="QUANTITY=VALUE",
            nargs="+",
            help="frequency, amplitude (0 to 1), phase (turns), attenuation (dB) of a DDS, which keeps what is not "
            "given; voltage of a DAC",
        ),
        Option("--initialise", action="store_true", help="initialise the card before, even if it was"),
        LAB,
        runs="moninj.set_output",
        examples=(
            "kairos moninj output urukul0_ch0 frequency=80MHz amplitude=0.5",
            "kairos moninj output zotino0:3 voltage=1.25",
        ),
    ),
    "release": Command("return pins to the control of experiments", _NAMES, runs="moninj.release"),
}

COMMAND = Command(
    "monitor the pins and cards of a core device, override pins, or set outputs",
    device("HOST[:PORT]", "address; default: that of 'core' in the device database"),
    DEVICE_DB,
    tools=_TOOLS,
    examples=(
        "kairos moninj watch ttl0 ttl4",
        "kairos moninj watch urukul0_ch0 zotino0:3 sampler0",
        "kairos moninj set 1 ttl4",
        "kairos moninj release ttl4",
        "kairos moninj output urukul0_ch0 frequency=80MHz amplitude=0.5",
    ),
)
