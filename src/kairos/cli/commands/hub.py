"""``kairos hub``: registers of a laboratory's core devices, from one place."""

from ..command import Command, Option
from ..options import JSON

HUB = (
    Option("--hub", default="localhost", metavar="HOST[:PORT]", help="where the hub listens; default: %(default)s"),
    Option(
        "--token-file", metavar="FILE", help="file with this client's token; default: $KAIROS_HUB_TOKEN is the token"
    ),
    Option(
        "--certificate",
        metavar="FILE",
        help="certificate of a hub with TLS, or 'system' (whom this system trusts); default: $KAIROS_HUB_CERTIFICATE",
    ),
)
REGISTERS = Option(
    "registers",
    nargs="+",
    metavar="DEVICE/BLOCK[/REGISTER]",
    help="as 'kairos hub ls DEVICE' names them; of a block all",
)

COMMAND = Command(
    "read and write registers of a laboratory's core devices, from one place",
    tools={
        "serve": Command(
            "be the hub",
            Option("settings", nargs="?", default="hub.toml", metavar="FILE", help="the devices; default: %(default)s"),
            Option("--listen", metavar="ADDRESS:PORT", help="listen here instead of where the file says"),
            Option("--log-format", choices=("text", "json"), default="text", help="of the log on standard error"),
            Option("--traces", metavar="URL", help="of a collector of OpenTelemetry for traces: OTLP over gRPC"),
            runs="hub.serve",
        ),
        "ls": Command(
            "list the devices, or the registers of one",
            Option("device", nargs="?", metavar="DEVICE[/BLOCK[/REGISTER]]", help="of this one"),
            *HUB,
            JSON,
            runs="hub.ls",
        ),
        "read": Command("show the values of registers", REGISTERS, *HUB, JSON, runs="hub.read"),
        "write": Command(
            "set a register",
            Option("register", metavar="DEVICE/BLOCK/REGISTER", help="which one"),
            Option("value", help="a number, also 0x…"),
            *HUB,
            runs="hub.write",
            examples=("kairos hub write zc706/scratch/word 0x55",),
        ),
        "i2c": Command(
            "write to a chip on I2C, and read from it",
            Option("device", metavar="DEVICE[/BUS]", help="whose board; of a computer with Linux which bus"),
            Option("address", nargs="?", metavar="ADDRESS", help="7 bits, also 0x…; without it: where chips answer"),
            Option("--write", nargs="+", default=[], metavar="BYTE", help="write these, a core device at most 8"),
            Option("--read", type=int, default=0, metavar="COUNT", help="then read so many, a core device at most 64"),
            Option("--switch", metavar="ADDRESS:MASK", help="with this switch set so, and back after it"),
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
            "show the level of a pin, hold it, let it go",
            Option("pin", metavar="DEVICE/CHANNEL", help="a TTL"),
            Option(
                "level", nargs="?", choices=("0", "1", "release"), help="hold it there, whatever an experiment does"
            ),
            *HUB,
            JSON,
            runs="hub.pin",
            examples=("kairos hub pin zc706/ttl4", "kairos hub pin zc706/ttl4 1"),
        ),
        "batch": Command(
            "execute a program of accesses in one go",
            Option("device", metavar="DEVICE", help="where"),
            Option(
                "program", metavar="FILE", help='steps as in the protocol, in JSON: [{"read": {"register": "…"}}, …]'
            ),
            *HUB,
            JSON,
            runs="hub.batch",
            examples=("kairos hub batch zc706 calibration.json",),
        ),
        "watch": Command(
            "show the values of registers as they are, in one table on a terminal, until Ctrl-C",
            REGISTERS,
            Option("--period", type=float, default=1.0, metavar="S", help="seconds between readings; default: 1"),
            *HUB,
            JSON,
            runs="hub.watch",
            examples=("kairos hub watch zc706/rtio/async_error --period 0.2 --json",),
        ),
        "buses": Command(
            "list the buses of I2C and SPI of a device",
            Option("device", metavar="DEVICE", help="of this one"),
            *HUB,
            JSON,
            runs="hub_buses.buses",
            examples=("kairos hub buses rack",),
        ),
        "spi": Command(
            "send bytes to a chip on SPI, and show what comes back; of a core device between the experiment's",
            Option("bus", metavar="DEVICE/BUS", help="as 'kairos hub buses DEVICE' names them; a channel of RTIO"),
            Option("bytes", nargs="+", metavar="BYTE", help="numbers, also 0x…"),
            Option(
                "--hertz",
                type=float,
                default=0,
                metavar="HZ",
                help="of the clock; default: as the device tree says, 1 MHz",
            ),
            Option(
                "--cs", default="1", metavar="MASK", help="chip selects of a core device, a bit for each; default: 1"
            ),
            Option(
                "--mode", choices=("0", "1", "2", "3"), default="0", help="polarity and phase of the clock; default: 0"
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
            "list the buffers of a computer with Linux, or save what is in one",
            Option("buffer", metavar="DEVICE[/BUFFER]", help="whose, or which one"),
            Option("-o", "--output", metavar="FILE", help="save it here; default: BUFFER.bin"),
            *HUB,
            JSON,
            runs="hub_buses.memory",
            examples=("kairos hub memory rack/samples -o samples.bin",),
        ),
        "clocks": Command(
            "show what devices run on; exit code 1 if a clock that is used is bad",
            Option("device", nargs="?", metavar="DEVICE", help="of this one; default: of all"),
            Option("-f", "--follow", action="store_true", help="go on with what changes, until Ctrl-C"),
            Option("--wait", type=float, metavar="SECONDS", help="until all of them are good, so long at most"),
            *HUB,
            JSON,
            runs="hub_waveforms.clocks",
            examples=("kairos hub clocks --wait 30", "kairos hub clocks zc706 --follow"),
        ),
        "waveform": Command(
            "show what the channels of a device did, event by event",
            Option("device", metavar="DEVICE[/CHANNEL]", help="whose, or of which channel"),
            Option("--vcd", metavar="FILE", help="save all that is kept as a VCD file"),
            Option("--dump", metavar="FILE", help="save it as the analyzer sends it, for 'kairos analyze'"),
            Option("-f", "--follow", action="store_true", help="go on with what comes, until Ctrl-C"),
            Option(
                "--wait", type=float, metavar="SECONDS", help="for an event that is still to come, and those around it"
            ),
            Option(
                "--kind",
                choices=("any", "output", "input", "underflow", "overflow", "exception"),
                default="any",
                help="of that event; default: %(default)s",
            ),
            Option("--table", metavar="N", default="40", help="events to show, or 'all'; default: %(default)s"),
            *HUB,
            JSON,
            runs="hub_waveforms.waveform",
            examples=(
                "kairos hub waveform zc706 --vcd pins.vcd",
                "kairos hub waveform zc706 --wait 60 --kind underflow",
            ),
        ),
        "health": Command(
            "show how the subsystems of devices are; exit code 1 if one is bad",
            Option("device", nargs="?", metavar="DEVICE", help="of this one; default: of all"),
            *HUB,
            JSON,
            runs="hub.health",
            examples=("kairos hub health zc706",),
        ),
        "log": Command(
            "show the log of a device",
            Option("device", metavar="DEVICE", help="whose"),
            Option(
                "-f", "--follow", action="store_true", help="go on with what comes, until Ctrl-C; the device forgets it"
            ),
            *HUB,
            JSON,
            runs="hub.log",
            examples=("kairos hub log zc706 --follow",),
        ),
        "metrics": Command(
            "show what Prometheus reads from the hub", *HUB, runs="hub.metrics", examples=("kairos hub metrics",)
        ),
        "plugins": Command("list the plugins", *HUB, JSON, runs="hub.plugins", examples=("kairos hub plugins",)),
        "reload": Command(
            "start a plugin anew, with what hub.toml says of it now",
            Option("plugin", metavar="PLUGIN", help="which one"),
            *HUB,
            runs="hub.reload",
            examples=("kairos hub reload shutter",),
        ),
        "token": Command(
            "make a token for a client of the hub",
            Option("name", metavar="NAME", help="of who has it, as the hub's log says it"),
            Option("role", metavar="ROLE", choices=("look", "operate", "administer"), help="what it permits"),
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
