"""Devices of the emulated system `lab` used by the ramp: a Fastino, and a Sampler that measures its
voltages.

The wiring is described in bench.toml. With a real device, replace the host by its address;
`kairos devices --from emulator://lab` writes a database of all devices of a system.
"""

device_db = {}


def add(name, module, driver, **arguments):
    device_db[name] = {
        "type": "local",
        "module": f"artiq.coredevice.{module}",
        "class": driver,
        "arguments": arguments,
    }


add("core", "core", "Core", host="emulator://lab", ref_period=1e-9, ref_multiplier=8, target="cortexa9")
add("fastino0", "fastino", "Fastino", channel=29, log2_width=2)
add("spi_sampler0_adc", "spi2", "SPIMaster", channel=32)
add("spi_sampler0_pgia", "spi2", "SPIMaster", channel=33)
add("ttl_sampler0_cnv", "ttl", "TTLOut", channel=34)
add(
    "sampler0",
    "sampler",
    "Sampler",
    spi_adc_device="spi_sampler0_adc",
    spi_pgia_device="spi_sampler0_pgia",
    cnv_device="ttl_sampler0_cnv",
    hw_rev="v2.2",
)
