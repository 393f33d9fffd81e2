# -*- coding: utf-8 -*-
# Cavity experiment.  Converted from the KC705 days (2018), so some entries are historical.
# Gateware: ion
from __future__ import print_function

device_db = {
    # --- core
    "comm": {"type": "local", "module": "artiq.coredevice.comm_kernel", "class": "CommKernel", "arguments": {"host": "kasli1.cavity.local"}},
    "core": {"type": "local", "module": "artiq.coredevice.core", "class": "Core",
             "arguments": {"host": "kasli1.cavity.local", "ref_period": 1e-9, "ref_multiplier": 8}},
    "core_cache": {"type": "local", "module": "artiq.coredevice.cache", "class": "CoreCache"},
    "core_dma": {"type": "local", "module": "artiq.coredevice.dma", "class": "CoreDMA"},
    "core_log": {"type": "controller", "host": "::1", "port": 1068, "command": "aqctl_corelog -p {port} --bind {bind} kasli1.cavity.local"},
    "i2c_switch": {"type": "local", "module": "artiq.coredevice.i2c", "class": "PCA9548"},
    "i2c_switch0": "i2c_switch",
    # historical: backplane ADC, no longer there
    #"ad5360_fmc": {...}
    "loop_clock_in": {"type": "local", "module": "artiq.coredevice.ttl", "class": "TTLInOut", "arguments": {"channel": 0}},
}

ch = 0
for bank in ["in", "out"]:
    for i in range(4):
        device_db["ttl_%s%d" % (bank, i)] = dict(
            type="local", module="artiq.coredevice.ttl",
            **{"class": {"in": "TTLInOut", "out": "TTLOut"}[bank]},
            arguments=dict(channel=ch))
        ch += 1
for i in range(4):
    device_db["ttl_in%d_counter" % i] = dict(type="local", module="artiq.coredevice.edge_counter", arguments=dict(channel=ch, gateware_width=31))
    device_db["ttl_in%d_counter" % i]["class"] = "EdgeCounter"
    ch += 1
device_db["spi_dds"] = {"type": "local", "module": "artiq.coredevice.spi2", "class": "SPIMaster", "arguments": {"channel": ch}}
device_db["dds_update"] = {"type": "local", "module": "artiq.coredevice.ttl", "class": "TTLOut", "arguments": {"channel": ch + 1}}
device_db["dds_cpld"] = {"type": "local", "module": "artiq.coredevice.urukul", "class": "CPLD",
    "arguments": {"spi_device": "spi_dds", "io_update_device": "dds_update", "refclk": 125e6, "clk_sel": 2}}
ch += 2
for i, n in enumerate("ABCD"):
    device_db["dds_sw" + n] = {"type": "local", "module": "artiq.coredevice.ttl", "class": "TTLOut", "arguments": {"channel": ch}}
    ch += 1
    device_db["dds" + n] = {"type": "local", "module": "artiq.coredevice.ad9910", "class": "AD9910",
        "arguments": {"chip_select": 4 + i, "cpld_device": "dds_cpld", "sw_device": "dds_sw" + n, "pll_n": 32, "sync_delay_seed": -1}}
for i in range(2):
    device_db["led%d" % i] = {"type": "local", "module": "artiq.coredevice.ttl", "class": "TTLOut", "arguments": {"channel": ch + i}}

# names used by the experiments
aliases = """
    probe       ddsA
    repump      ddsB
    sideband    ddsC
    SPCM        ttl_in0
    SPCM_count  ttl_in0_counter
    probe_sh    ttl_out2
    led         led0
    led_user    led
"""
for line in aliases.strip().splitlines():
    alias, target = line.split()
    device_db[alias] = target
