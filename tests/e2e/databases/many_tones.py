# Tweezers: Phaser with tones on a link of its own ("MTDDS"), trap 1.  Gateware: mtdds
# channel numbers: see the printout on the rack door
from functools import partial

CORE = "fd00:4:2::13"
RATE = 250e6
RF = {"x": 0, "y": 1}          # AOD axis -> RF channel


def entry(driver, core="core", /, **arguments):
    package, module_, class_ = "artiq.coredevice." + driver.split(":")[0], *driver.split(":")
    return dict({"type": "local", "module": package, "class": class_}, arguments={**arguments, "core_device": core} if core else arguments)


on_core, bare = partial(entry), lambda d, **k: entry(d, None, **k)

device_db = {
    "core": bare("core:Core", host=CORE, ref_period=1e-9, target="cortexa9"),
    "core_cache": on_core("cache:CoreCache"),
    "core_dma": on_core("dma:CoreDMA"),
    "core_moninj": {"type": "controller", "host": "::1", "port_proxy": 1383, "port": 1384, "command": f"aqctl_moninj_proxy --port-proxy {{port_proxy}} --port-control {{port}} --bind {{bind}} {CORE}"},
    "scope trigger": on_core("ttl:TTLOut", channel=0),
    # chips
    "aod_dac_spi": on_core("spi2:SPIMaster", channel=1),
    "aod_dac": on_core("dac34h84:DAC34H84", spi_device="aod_dac_spi", input_sample_rate=RATE),
    "aod": on_core("phaser:PhaserMTDDS", channel=6, sysclk=125e6, dac_device="aod_dac"),
}
for axis, n in RF.items():
    device_db |= {
        f"aod_{axis}/iq spi": on_core("spi2:SPIMaster", channel=2 + n),
        f"aod_{axis}/iq": on_core("trf372017:TRF372017", spi_device=f"aod_{axis}/iq spi", refclk=125e6),
        f"aod_{axis}/att spi": on_core("spi2:SPIMaster", channel=4 + n),
        f"aod_{axis}/att": on_core("hmc542b:HMC542B", spi_device=f"aod_{axis}/att spi"),
    }
    for tone in range(4):
        device_db[f"aod_{axis}/{tone}"] = on_core("phaser:PhaserDDS", channel=7 + 4 * n + tone, bandwidth=RATE)
    device_db[f"aod_{axis}"] = on_core(
        "phaser:PhaserMTDDSChannel", channel_index=n, tones=4, fpga_device="aod", dac_device="aod_dac",
        att_device=f"aod_{axis}/att", dds_device_prefix=f"aod_{axis}/", iquc_device=f"aod_{axis}/iq")

device_db["tweezers"] = "aod"
device_db["aom"] = "aod_x"
