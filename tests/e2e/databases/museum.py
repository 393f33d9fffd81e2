#!/usr/bin/env python3
# vim: set ts=4:
"""Quantum simulation, lab 4.

Grown since 2016: entries of old ARTIQ versions stay in the file, because old experiments name them.
Gateware: ion
"""

device_db = {}                  # type: dict


def _f(x): return int(float(x))


class Local:
    def __init__(self, module, cls, core=None, **kw):
        self.d = {"type": "local", "module": module, "class": cls}
        if core: kw["core_device"] = core
        self.d["arguments"] = kw

    def __call__(self, *names):
        for n in names:
            device_db[n] = self.d        # the same dictionary under several names


Local("artiq.coredevice.core", "Core", host="qsim4.example.org", ref_period=1/1e9, target="cortexa9")("core")
# --- ARTIQ 1 to 4
Local("artiq.coredevice.comm_tcp", "Comm", host="qsim4.example.org")("comm")
Local("artiq.coredevice.dds", "CoreDDS")("core_dds")
Local("artiq.coredevice.dds", "DDSGroupAD9914", "core", sysclk=3e9, first_dds_bus_channel=26, dds_bus_count=2, dds_channel_count=3)("core_dds_group")
Local("artiq.coredevice.dds", "DDSChannelAD9914", "core", bus_channel=26, channel=0)("dds0")
Local("artiq.coredevice.ad9914", "AD9914", sysclk=3e9, bus_channel=26, channel=1)("dds1")
Local("artiq.coredevice.spi", "SPIMaster", "core", channel=22)("spi0")
Local("artiq.coredevice.ad5360", "AD5360", spi_device="spi0", ldac_device="ttl_ldac")("dac_old")
Local("artiq.coredevice.pmt", "PMT")("pmt_card")
# --- Kasli-SoC
Local("artiq.coredevice.cache", "CoreCache")("core_cache")
Local("artiq.coredevice.dma", "CoreDMA")("core_dma")
for i in range(_f("4")):
    Local("artiq.coredevice.ttl", "TTLInOut", "core", channel=i)("ttl%d" % i, "TTL_IN_%s" % "ABCD"[i])
    Local("artiq.coredevice.ttl", "TTLOut", channel=i + 4)("ttl%d" % (i + 4), "TTL OUT %d" % i)
    Local("artiq.coredevice.edge_counter", "EdgeCounter", channel=i + 8)("counter/%d" % i)
    Local("artiq.coredevice.ttl", "TTLOut", channel=14 + i)("sw%d" % i)
Local("artiq.coredevice.spi2", "SPIMaster", channel=0xc)(u"spi_µwave")
Local("artiq.coredevice.ttl", "TTLOut", channel=0xd)("update")
Local("artiq.coredevice.urukul", "CPLD", spi_device=u"spi_µwave", io_update_device="update", refclk=125000000, clk_sel=2, core_device="core")("cpld")
for i in range(4):
    device_db["dds" + str(10 + i)] = {
        "type": "local", "module": "artiq.coredevice.ad9910", "class": "AD9910", "desc": "do not touch!",
        "arguments": {"pll_n": 32, "chip_select": 4 + i, "cpld_device": "cpld", "sw_device": "sw%d" % i},
    }
Local("artiq.coredevice.ttl", "TTLOut", channel=18)("led", "user_led")
Local("artiq.coredevice.ttl", "TTLOut", channel=19)("led1")

# remote and host-only things
device_db["ccd"] = {"type": "controller", "host": "qsim4-cam", "port": 4000, "command": "ccd_controller -p {port}"}
device_db["ccd_live"] = {"type": "controller_aux_target", "controller": "ccd", "target_name": "live"}
device_db["scheduler"] = {"type": "local", "module": "qsim.fakes", "class": "Scheduler"}
device_db["oven"] = "oven_psu"          # unplugged
device_db["λ729"] = "dds10"
device_db.pop("pmt_card")
del _f
