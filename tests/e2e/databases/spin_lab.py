# spin lab, trap 2.  Everything except the ndsp boxes hangs on one Kasli-SoC.
# Gateware: lab
#
# CHANGELOG
#   2022-03  moved from Kasli (core_kasli, below)
#   2023-11  AOM switch board removed, see the logbook
import sys
from collections import OrderedDict
from copy import deepcopy

IP = {"trap1": "10.255.6.197", "trap2": "10.255.6.198"}
HOST = "trap2"

db = OrderedDict()


def add(name, path, disabled=False, comment=None, **kw):
    """add("ttl3", "ttl.TTLOut", channel=3)"""
    if disabled:
        return
    mod, cls = path.rsplit(".", 1)
    db[name] = {"type": "local", "module": "artiq.coredevice.%s" % mod, "class": cls}
    if kw:
        db[name]["arguments"] = kw
    if comment:
        db[name]["comment"] = comment


def alias(**names):
    db.update(names)


add("core_soc", "core.Core", host=IP[HOST], ref_period=1e-9, target="cortexa9", analyzer_proxy=None)
alias(core="core_soc")
add("core_kasli", "core.Core", disabled=True, host="10.255.6.150", ref_period=1e-9, target="rv32g")
add("core_dma", "dma.CoreDMA", core_device="core_soc")
add("core_cache", "cache.CoreCache", core_device="core_soc")

db["core_log"] = dict(type="controller", host="::1", port=1068, command="aqctl_corelog -p {port} --bind {bind} " + IP[HOST])
db["laser_lock"] = dict(type="controller", host="10.255.6.10", port=3251, best_effort=True,
                        command="python -m our_controllers.lock -p {port} --bind {bind} --simulation")
db["wavemeter"] = dict(type="controller", host="10.255.6.11", port=3280, target_name="wavemeter")

# ---- TTL
PMT, COUNTER, OUT, CLK = 0x00, 0x08, 0x04, 0x10
for i in range(4):
    add(f"ttl_pmt{i}", "ttl.TTLInOut", channel=PMT + i, core_device="core_soc")
    add(f"ttl_pmt{i}_counter", "edge_counter.EdgeCounter", channel=COUNTER + i, core_device="core_soc", gateware_width=31)
    add(f"ttl_out{i}", "ttl.TTLOut", channel=OUT + i, core_device="core_soc")
    add(f"ttl_slow{i}", "ttl.TTLOut", channel=0x0C + i, core_device="core_soc")
    add(f"clk{i}", "ttl.TTLClockGen", channel=CLK + i, core_device="core_soc")

# ---- DDS
add("urukul0.spi", "spi2.SPIMaster", channel=0x14, core_device="core_soc")
add("urukul0.sync", "ttl.TTLClockGen", channel=0x15, acc_width=4, core_device="core_soc")
add("urukul0.io_update", "ttl.TTLOut", channel=0x16, core_device="core_soc")
add("urukul0.cpld", "urukul.CPLD", spi_device="urukul0.spi", io_update_device="urukul0.io_update",
    sync_device="urukul0.sync", refclk=125e6, clk_sel=2, core_device="core_soc",
    comment="reference: Wenzel, 125 MHz, +10 dBm")
template = {"pll_n": 32, "cpld_device": "urukul0.cpld", "sync_delay_seed": -1, "io_update_delay": 0}
for i, laser in enumerate(["397", "866", "854", "729"]):
    add("urukul0.sw%d" % i, "ttl.TTLOut", channel=0x17 + i, core_device="core_soc")
    args = deepcopy(template)
    args.update(chip_select=4 + i, sw_device="urukul0.sw%d" % i)
    add("dds_" + laser, "ad9910.AD9910", **args)
alias(doppler="dds_397", repump_1="dds_866", repump_2="dds_854", qubit="dds_729")

# ---- analog
add("spi_dac", "spi2.SPIMaster", channel=0x1B, core_device="core_soc")
add("ldac", "ttl.TTLOut", channel=0x1C, core_device="core_soc")
add("electrodes", "zotino.Zotino", spi_device="spi_dac", ldac_device="ldac", core="core_soc")
add("shims", "fastino.Fastino", channel=0x1D, log2_width=2, core_device="core_soc")
add("camera", "grabber.Grabber", channel_base=0x1E, core_device="core_soc")
add("adc_spi", "spi2.SPIMaster", channel=0x20, core_device="core_soc")
add("adc_gain_spi", "spi2.SPIMaster", channel=0x21, core_device="core_soc")
add("adc_cnv", "ttl.TTLOut", channel=0x22, core_device="core_soc")
add("adc", "sampler.Sampler", spi_adc_device="adc_spi", spi_pgia_device="adc_gain_spi", cnv_device="adc_cnv",
    gains=0x0000, hw_rev="v2.2", core_device="core_soc")
add("led_run", "ttl.TTLOut", channel=0x23, core_device="core_soc")
add("led_err", "ttl.TTLOut", channel=0x24, core_device="core_soc")

# ---- virtual devices (our package, only on the lab computers)
db["trap"] = {"type": "local", "module": "spinlab.devices.trap", "class": "Trap",
              "arguments": {"electrodes": "electrodes", "dds": ["doppler", "qubit"], "limits": {"x": (-1.0, 1.0)}}}
db["dummy_shutter"] = {"type": "dummy"}
add("aom_board", "spi2.SPIMaster", disabled=True, channel=0x40)

# names that only the dashboard reads
db["_display"] = None
db["ttl_names"] = ["ttl_pmt0", "ttl_out0"]

device_db = dict(db)
if "--verbose-db" in sys.argv:
    print(len(device_db), "devices")
