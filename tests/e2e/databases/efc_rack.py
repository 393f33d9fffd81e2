"""Surface trap: Kasli-SoC, Shuttler in EEM 8 (electrodes), Songbird in EEM 9 (Raman).  System: master, shuttler, songbird
Both EFCs are satellites: destination = number of the card, channel = destination << 16 | number in its gateware."""

import itertools
import types

dest = types.SimpleNamespace(local=0, shuttler=1, songbird=2)
_A = "artiq.coredevice."


def chan(where, number):
    return getattr(dest, where) << 16 | number


def dev(name, cls, **args):
    device_db[name] = {"type": "local", "module": _A + cls[0], "class": cls[1], "arguments": args}


device_db = {
    "core": {
        "type": "local",
        "module": _A + "core",
        "class": "Core",
        "arguments": {
            "host": "kasli-trap.quantum.example.edu",
            "ref_period": 1e-09,
            "analyzer_proxy": "core_analyzer",
            "target": "cortexa9",
            "satellite_cpu_targets": {},
        },
    },
    "core_analyzer": {
        "type": "controller",
        "host": "::1",
        "port_proxy": 1385,
        "port": 1386,
        "command": "aqctl_coreanalyzer_proxy --port-proxy {port_proxy} --port-control {port} --bind {bind} kasli-trap",
    },
    "core_cache": {"type": "local", "module": _A + "cache", "class": "CoreCache"},
    "core_dma": {"type": "local", "module": _A + "dma", "class": "CoreDMA"},
}

for n, cls in enumerate(["TTLInOut"] * 4 + ["TTLOut"] * 4):
    dev(f"ttl{n}", ("ttl", cls), channel=chan("local", n))
for n in range(2):
    dev(f"led{n}", ("ttl", "TTLOut"), channel=chan("local", 8 + n))
    dev(f"shuttler0_led{n}", ("ttl", "TTLOut"), channel=chan("shuttler", n))

dev("shuttler0_config", ("shuttler", "Config"), channel=chan("shuttler", 2))
dev("shuttler0_trigger", ("shuttler", "Trigger"), channel=chan("shuttler", 3))
numbers = itertools.count(4)
for n in range(16):
    dev(f"shuttler0_dcbias{n}", ("shuttler", "DCBias"), channel=chan("shuttler", next(numbers)))
    dev(f"shuttler0_dds{n}", ("shuttler", "DDS"), channel=chan("shuttler", next(numbers)))
for part, cls in (("relay", "Relay"), ("adc", "ADC")):
    dev(f"spi_shuttler0_{part}", ("spi2", "SPIMaster"), channel=chan("shuttler", next(numbers)))
    dev(f"shuttler0_{part}", ("shuttler", cls), spi_device=f"spi_shuttler0_{part}")

dev("spi_songbird0", ("spi2", "SPIMaster"), channel=chan("songbird", 2))
dev("songbird0", ("songbird", "Songbird"), spi_device="spi_songbird0", channel=chan("songbird", 3))
for n in range(4):
    dev(
        f"songbird0_dds{n}",
        ("songbird", "DDS"),
        channel=chan("songbird", 6 + 2 * n),
        config_device="songbird0",
        dds_no=n,
    )

# nicknames
device_db |= {"pmt": "ttl0", "electrodes": "shuttler0_config", "raman": "songbird0", "raman red": "songbird0_dds0"}
del n, cls, part
