"""Intensity stabilisation of eight beams. Gateware: servo"""

core_addr = "su-servo.lab.example"


def local(module, cls, **arguments):
    return dict(type="local", module=f"artiq.coredevice.{module}", **{"class": cls}, arguments=arguments)


device_db = {
    "core": local("core", "Core", host=core_addr, ref_period=1e-9, target="cortexa9"),
    "core_cache": local("cache", "CoreCache"),
    "core_dma": local("dma", "CoreDMA"),
    "spi_sampler0_pgia": local("spi2", "SPIMaster", channel=9),
    "suservo0": local(
        "suservo",
        "SUServo",
        channel=8,
        pgia_device="spi_sampler0_pgia",
        cpld_devices=["urukul0_cpld", "urukul1_cpld"],
        dds_devices=["urukul0_dds", "urukul1_dds"],
        sampler_hw_rev="v2.2",
    ),
}
BEAMS = ["cool", "repump", "detect", "pump", "raman_a", "raman_b", "spare0", "spare1"]
for number, beam in enumerate(BEAMS):
    device_db[f"suservo0_ch{number}"] = local("suservo", "Channel", channel=number, servo_device="suservo0")
    device_db[f"servo_{beam}"] = f"suservo0_ch{number}"
for card in range(2):
    first = 10 + 3 * card
    device_db.update(
        {
            f"ttl_urukul{card}_io_update": local("ttl", "TTLOut", channel=first),
            f"ttl_urukul{card}_sync": local("ttl", "TTLClockGen", channel=first + 1, acc_width=4),
            f"spi_urukul{card}": local("spi2", "SPIMaster", channel=first + 2),
            f"urukul{card}_cpld": local(
                "urukul",
                "CPLD",
                spi_device=f"spi_urukul{card}",
                sync_device=f"ttl_urukul{card}_sync",
                io_update_device=f"ttl_urukul{card}_io_update",
                refclk=125e6,
                clk_sel=2,
                clk_div=0,
            ),
            f"urukul{card}_dds": local(
                "suservo",
                "SharedDDS",
                cpld_device=f"urukul{card}_cpld",
                pll_n=32,
                pll_en=1,
                sync_delay_seeds=[-1, -1, -1, -1],
                io_update_delay=0,
            ),
        }
    )
# The Sampler's other inputs are free; the pump beam is not stabilised yet
del device_db["servo_spare1"]
