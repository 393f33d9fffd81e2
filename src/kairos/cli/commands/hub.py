"""``kairos hub``: central access to the core devices of a laboratory."""

from ..command import Command, Option
from ..options import JSON, between

HUB = (
    Option("--hub", default="localhost", metavar="HOST[:PORT]", help="address of the hub; default: %(default)s"),
    Option(
        "--token-file", metavar="FILE", help="file with this client's token; default: the token in $KAIROS_HUB_TOKEN"
    ),
    Option(
        "--certificate",
        metavar="FILE",
        help="CA certificate to verify a hub with TLS, or 'system' for the system's; default: $KAIROS_HUB_CERTIFICATE",
    ),
)
REGISTERS = Option(
    "registers",
    nargs="+",
    metavar="DEVICE/BLOCK[/REGISTER]",
    help="registers as listed by 'kairos hub ls DEVICE'; a block selects all of its registers",
)


def _role(name: str) -> str:
    """The role of a name on the command line: `look` is an older one of `view`."""
    return "view" if name == "look" else name


COMMAND = Command(
    "central access to the core devices of a laboratory: registers, buses, clocks, waveforms, logs",
    tools={
        "serve": Command(
            "run the hub",
            Option(
                "settings", nargs="?", default="hub.toml", metavar="FILE", help="settings file; default: %(default)s"
            ),
            Option(
                "--listen",
                metavar="ADDRESS:PORT",
                help="listen on this address instead of the one in the settings file",
            ),
            Option(
                "--log-format",
                choices=("text", "json"),
                default="text",
                help="format of the log on standard error; default: %(default)s",
            ),
            Option("--traces", metavar="URL", help="send traces to this OpenTelemetry collector (OTLP over gRPC)"),
            runs="hub.serve",
        ),
        "ls": Command(
            "list the devices, or the registers of a device",
            Option(
                "device",
                nargs="?",
                metavar="DEVICE[/BLOCK[/REGISTER]]",
                help="device, block or register to list; default: all devices",
            ),
            *HUB,
            JSON,
            runs="hub.ls",
        ),
        "read": Command("show the values of registers", REGISTERS, *HUB, JSON, runs="hub.read"),
        "write": Command(
            "write a register",
            Option("register", metavar="DEVICE/BLOCK/REGISTER", help="register to write"),
            Option("value", metavar="VALUE", help="value, decimal or 0x…"),
            *HUB,
            runs="hub.write",
            examples=("kairos hub write zc706/scratch/word 0x55",),
        ),
        "i2c": Command(
            "write to and read from a chip on I2C, or scan the bus",
            Option("device", metavar="DEVICE[/BUS]", help="core device, or bus of a Linux computer"),
            Option(
                "address",
                nargs="?",
                metavar="ADDRESS",
                help="7-bit address, decimal or 0x…; without it: list the addresses that acknowledge",
            ),
            Option("--write", nargs="+", default=[], metavar="BYTE", help="bytes to write, at most 8 on a core device"),
            Option(
                "--read",
                type=between(0),
                default=0,
                metavar="COUNT",
                help="number of bytes to read afterwards, at most 64 on a core device",
            ),
            Option(
                "--switch",
                metavar="ADDRESS:MASK",
                help="set this bus switch for the transfer and restore it afterwards",
            ),
            *HUB,
            JSON,
            runs="hub_buses.i2c",
            examples=(
                "kairos hub i2c zc706 --switch 0x74:0x04",
                "kairos hub i2c zc706 0x50 --write 3 --read 2 --switch 0x74:0x04",
                "kairos hub i2c rack/i2c-1 0x50 --write 3 --read 2",
            ),
        ),
        "pin": Command(
            "show, override or release the level of a pin",
            Option("pin", metavar="DEVICE/CHANNEL", help="TTL channel"),
            Option(
                "level",
                nargs="?",
                choices=("0", "1", "release"),
                help="override the pin with this level, or release the override",
            ),
            *HUB,
            JSON,
            runs="hub.pin",
            examples=("kairos hub pin zc706/ttl4", "kairos hub pin zc706/ttl4 1"),
        ),
        "batch": Command(
            "execute a batch of register accesses in one round trip",
            Option("device", metavar="DEVICE", help="device that executes the batch"),
            Option(
                "program",
                metavar="FILE",
                help='JSON file with the steps as in the protocol: [{"read": {"register": "…"}}, …]',
            ),
            *HUB,
            JSON,
            runs="hub.batch",
            examples=("kairos hub batch zc706 calibration.json",),
        ),
        "watch": Command(
            "show the values of registers continuously until Ctrl-C; on a terminal as one table",
            REGISTERS,
            Option(
                "--period",
                type=between(0.01, kind=float),
                default=1.0,
                metavar="S",
                help="seconds between readings; default: 1",
            ),
            *HUB,
            JSON,
            runs="hub.watch",
            examples=("kairos hub watch zc706/rtio/async_error --period 0.2 --json",),
        ),
        "buses": Command(
            "list the I2C and SPI buses of a device",
            Option("device", metavar="DEVICE", help="device to list"),
            *HUB,
            JSON,
            runs="hub_buses.buses",
            examples=("kairos hub buses rack",),
        ),
        "spi": Command(
            "transfer bytes to and from a chip on SPI; on a core device between transfers of the experiment",
            Option("bus", metavar="DEVICE/BUS", help="bus as listed by 'kairos hub buses DEVICE', or RTIO channel"),
            Option("bytes", nargs="+", metavar="BYTE", help="bytes to send, decimal or 0x…"),
            Option(
                "--hertz",
                type=between(0, kind=float),
                default=0,
                metavar="HZ",
                help="clock frequency; default: that of the device tree, or 1 MHz on a core device",
            ),
            Option("--cs", default="1", metavar="MASK", help="bit mask of chip selects, core devices only; default: 1"),
            Option(
                "--mode",
                choices=("0", "1", "2", "3"),
                default="0",
                help="SPI mode (clock polarity and phase); default: 0",
            ),
            *HUB,
            JSON,
            runs="hub_buses.spi",
            examples=(
                "kairos hub spi rack/spidev0.0 0x9f 0 0 --mode 3",
                "kairos hub spi zc706/urukul0_spi 0x80 0 0 0 --cs 2",
            ),
        ),
        "memory": Command(
            "list the memory buffers of a Linux computer, or save one to a file",
            Option("buffer", metavar="DEVICE[/BUFFER]", help="computer, or buffer to save"),
            Option("-o", "--output", metavar="FILE", help="output file; default: BUFFER.bin"),
            *HUB,
            JSON,
            runs="hub_buses.memory",
            examples=("kairos hub memory rack/samples -o samples.bin",),
        ),
        "clocks": Command(
            "show the clocks of devices; exit code 1 if a clock in use is bad",
            Option("device", nargs="?", metavar="DEVICE", help="only this device; default: all"),
            Option("-f", "--follow", action="store_true", help="report changes until Ctrl-C"),
            Option(
                "--wait",
                type=between(0, kind=float),
                metavar="SECONDS",
                help="wait until all clocks are good, at most this long",
            ),
            *HUB,
            JSON,
            runs="hub_waveforms.clocks",
            examples=("kairos hub clocks --wait 30", "kairos hub clocks zc706 --follow"),
        ),
        "waveform": Command(
            "show the events recorded on the channels of a device",
            Option("device", metavar="DEVICE[/CHANNEL]", help="device, or a single channel"),
            Option("--vcd", metavar="FILE", help="save all events kept by the hub as a VCD file"),
            Option("--dump", metavar="FILE", help="save the raw analyzer record, for 'kairos analyze'"),
            Option("-f", "--follow", action="store_true", help="continue with new events until Ctrl-C"),
            Option(
                "--wait",
                type=between(0, kind=float),
                metavar="SECONDS",
                help="wait at most this long for the next event, and show it with those around it",
            ),
            Option(
                "--kind",
                choices=("any", "output", "input", "underflow", "overflow", "exception"),
                default="any",
                help="with --wait: type of event to wait for; default: %(default)s",
            ),
            Option(
                "--table", metavar="N", default="40", help="number of events to show, or 'all'; default: %(default)s"
            ),
            *HUB,
            JSON,
            runs="hub_waveforms.waveform",
            examples=(
                "kairos hub waveform zc706 --vcd pins.vcd",
                "kairos hub waveform zc706 --wait 60 --kind underflow",
            ),
        ),
        "health": Command(
            "show the health of devices by subsystem; exit code 1 if one is bad",
            Option("device", nargs="?", metavar="DEVICE", help="only this device; default: all"),
            *HUB,
            JSON,
            runs="hub.health",
            examples=("kairos hub health zc706",),
        ),
        "log": Command(
            "show the log of a device",
            Option("device", metavar="DEVICE", help="device whose log to show"),
            Option(
                "-f",
                "--follow",
                action="store_true",
                help="continue with new lines until Ctrl-C; this removes them from the device's log",
            ),
            *HUB,
            JSON,
            runs="hub.log",
            examples=("kairos hub log zc706 --follow",),
        ),
        "metrics": Command(
            "show the metrics that the hub exports to Prometheus",
            *HUB,
            runs="hub.metrics",
            examples=("kairos hub metrics",),
        ),
        "plugins": Command("list the plugins", *HUB, JSON, runs="hub.plugins", examples=("kairos hub plugins",)),
        "reload": Command(
            "restart a plugin with its entry in hub.toml; start one that is new there, end one that is no longer there",
            Option("plugin", metavar="PLUGIN", help="plugin to reload"),
            *HUB,
            runs="hub.reload",
            examples=("kairos hub reload shutter",),
        ),
        "token": Command(
            "create a token for a client of the hub",
            Option("name", metavar="NAME", help="name of the client, used in the log of the hub"),
            Option(
                "role",
                metavar="ROLE",
                type=_role,
                choices=("view", "operate", "administer"),
                help="role of the client",
            ),
            runs="hub.token",
            examples=("kairos hub token alice operate >> hub.toml",),
        ),
    },
    default="serve",
    examples=(
        "kairos hub serve hub.toml",
        "kairos hub ls zc706",
        "kairos hub read zc706/rtio/async_error",
    ),
)
