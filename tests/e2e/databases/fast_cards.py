# Microwave and shuttling setup: Phaser, Shuttler, two AD9914 on a FMC card. Gateware: cards
import os

CORE = os.environ.get("CORE_ADDR", "172.16.0.75")


class Entry(dict):
    """So that one line is enough for a device."""

    def __init__(self, path, **arguments):
        module, _, cls = path.rpartition(".")
        super().__init__(type="local", module="artiq.coredevice." + module, arguments=arguments)
        self["class"] = cls


device_db = {
    "core": Entry("core.Core", host=CORE, ref_period=1e-9, target="cortexa9"),
    "core_dma": Entry("dma.CoreDMA"),
    "core_cache": Entry("cache.CoreCache"),
    "trigger_in": Entry("ttl.TTLInOut", channel=0),
    "trigger_out": Entry("ttl.TTLOut", channel=1),
    "dds_carrier": Entry("ad9914.AD9914", sysclk=3e9, bus_channel=2, channel=0),
    "dds_sideband": Entry("ad9914.AD9914", sysclk=3e9, bus_channel=2, channel=1),
    "shuttler0_spi0": Entry("spi2.SPIMaster", channel=3),
    "shuttler0_spi1": Entry("spi2.SPIMaster", channel=4),
    "shuttler0_relay": Entry("shuttler.Relay", spi_device="shuttler0_spi0"),
    "shuttler0_adc": Entry("shuttler.ADC", spi_device="shuttler0_spi1"),
    "phaser0": Entry("phaser.Phaser", channel_base=5, miso_delay=1),
    "shuttler0_config": Entry("shuttler.Config", channel=10),
    "shuttler0_trigger": Entry("shuttler.Trigger", channel=11),
}
for n in range(16):
    device_db[f"shuttler0_dcbias{n}"] = Entry("shuttler.DCBias", channel=12 + n)
    device_db[f"shuttler0_dds{n}"] = Entry("shuttler.DDS", channel=28 + n)
device_db.update(mw="phaser0", endcap_left="shuttler0_dcbias0", endcap_right="shuttler0_dcbias1")
