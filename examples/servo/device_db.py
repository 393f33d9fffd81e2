"""Devices of the emulated system `servo`: an SU-Servo of a Sampler and two Urukuls with AD9910 chips.

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


add("core", "core", "Core", host="emulator://servo", ref_period=1e-9, ref_multiplier=8, target="cortexa9")

for number in range(8):
    add(f"suservo0_ch{number}", "suservo", "Channel", channel=number, servo_device="suservo0")
add(
    "suservo0",
    "suservo",
    "SUServo",
    channel=8,
    pgia_device="spi_sampler0_pgia",
    cpld_devices=["urukul0_cpld", "urukul1_cpld"],
    dds_devices=["urukul0_dds", "urukul1_dds"],
)
add("spi_sampler0_pgia", "spi2", "SPIMaster", channel=9)
for card, first in ((0, 10), (1, 13)):
    add(f"ttl_urukul{card}_io_update", "ttl", "TTLOut", channel=first)
    add(f"ttl_urukul{card}_sync", "ttl", "TTLClockGen", channel=first + 1, acc_width=4)
    add(f"spi_urukul{card}", "spi2", "SPIMaster", channel=first + 2)
    add(
        f"urukul{card}_cpld",
        "urukul",
        "CPLD",
        spi_device=f"spi_urukul{card}",
        sync_device=f"ttl_urukul{card}_sync",
        io_update_device=f"ttl_urukul{card}_io_update",
        refclk=125e6,
        clk_sel=2,
    )
    add(f"urukul{card}_dds", "suservo", "SharedDDS", cpld_device=f"urukul{card}_cpld", pll_n=32)
