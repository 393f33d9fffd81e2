"""Devices of the emulated system `ion`: four TTL inputs with counters, four outputs, an Urukul with AD9910 chips.

The wiring is described in bench.toml. With a real device, replace the host by its address.
"""

device_db = {}


def add(name, module, driver, **arguments):
    device_db[name] = {
        "type": "local",
        "module": f"artiq.coredevice.{module}",
        "class": driver,
        "arguments": arguments,
    }


add("core", "core", "Core", host="emulator://ion", ref_period=1e-9, ref_multiplier=8, target="cortexa9")
add("core_dma", "dma", "CoreDMA")
add("core_cache", "cache", "CoreCache")

for number in range(8):
    add(f"ttl{number}", "ttl", "TTLInOut" if number < 4 else "TTLOut", channel=number)
for number in range(4):
    add(f"ttl{number}_counter", "edge_counter", "EdgeCounter", channel=8 + number)

add("spi_urukul0", "spi2", "SPIMaster", channel=12)
add("ttl_urukul0_io_update", "ttl", "TTLOut", channel=13)
add(
    "urukul0_cpld",
    "urukul",
    "CPLD",
    spi_device="spi_urukul0",
    io_update_device="ttl_urukul0_io_update",
    refclk=125e6,
    clk_sel=2,
)
for number in range(4):
    add(f"ttl_urukul0_sw{number}", "ttl", "TTLOut", channel=14 + number)
    add(
        f"urukul0_ch{number}",
        "ad9910",
        "AD9910",
        chip_select=4 + number,
        cpld_device="urukul0_cpld",
        sw_device=f"ttl_urukul0_sw{number}",
        pll_n=32,
    )
