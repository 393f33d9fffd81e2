# Two-species trap, room 0.12. Kasli-SoC #3, 2 racks. Last change: new shutter on ttl6 (MH).
# Gateware: ion
import copy

core_addr = "10.255.6.19"

device_db = {
    "core": {
        "type": "local",
        "module": "artiq.coredevice.core",
        "class": "Core",
        "arguments": {
            "host": core_addr,
            "ref_period": 1e-09,
            "analyzer_proxy": "core_analyzer",
            "target": "cortexa9",
        },
    },
    "core_log": {
        "type": "controller",
        "host": "::1",
        "port": 1068,
        "command": "aqctl_corelog -p {port} --bind {bind} " + core_addr,
    },
    "core_moninj": {
        "type": "controller",
        "host": "::1",
        "port_proxy": 1383,
        "port": 1384,
        "command": "aqctl_moninj_proxy --port-proxy {port_proxy} --port-control {port} --bind {bind} " + core_addr,
    },
    "core_analyzer": {
        "type": "controller",
        "host": "::1",
        "port_proxy": 1385,
        "port": 1386,
        "command": "aqctl_coreanalyzer_proxy --port-proxy {port_proxy} --port-control {port} --bind {bind} " + core_addr,
    },
    "core_cache": {"type": "local", "module": "artiq.coredevice.cache", "class": "CoreCache"},
    "core_dma": {"type": "local", "module": "artiq.coredevice.dma", "class": "CoreDMA"},
    "i2c_switch0": {
        "type": "local",
        "module": "artiq.coredevice.i2c",
        "class": "I2CSwitch",
        "arguments": {"address": 0xE0},
    },
    "i2c_switch1": {
        "type": "local",
        "module": "artiq.coredevice.i2c",
        "class": "I2CSwitch",
        "arguments": {"address": 0xE2},
    },
}

ttl = {"type": "local", "module": "artiq.coredevice.ttl", "class": None, "arguments": {}}
for i in range(8):
    entry = copy.deepcopy(ttl)
    entry["class"] = "TTLInOut" if i < 4 else "TTLOut"
    entry["arguments"]["channel"] = i
    device_db["ttl%d" % i] = entry
for i in range(4):
    device_db["ttl%d_counter" % i] = {
        "type": "local",
        "module": "artiq.coredevice.edge_counter",
        "class": "EdgeCounter",
        "arguments": {"channel": 0x000008 + i},
    }

device_db["spi_urukul0"] = {
    "type": "local",
    "module": "artiq.coredevice.spi2",
    "class": "SPIMaster",
    "arguments": {"channel": 0x00000C},
}
device_db["ttl_urukul0_io_update"] = {
    "type": "local",
    "module": "artiq.coredevice.ttl",
    "class": "TTLOut",
    "arguments": {"channel": 0x00000D},
}
device_db["urukul0_cpld"] = {
    "type": "local",
    "module": "artiq.coredevice.urukul",
    "class": "CPLD",
    "arguments": {
        "spi_device": "spi_urukul0",
        "sync_device": None,
        "io_update_device": "ttl_urukul0_io_update",
        "refclk": 125000000.0,
        "clk_sel": 2,
        "clk_div": 0,
    },
}
for i, (name, f) in enumerate([("beam_397", 220), ("beam_866", 80), ("beam_729", 200), ("beam_sigma", 110)]):
    device_db["ttl_urukul0_sw%d" % i] = {
        "type": "local",
        "module": "artiq.coredevice.ttl",
        "class": "TTLOut",
        "arguments": {"channel": 0x00000E + i},
    }
    device_db["urukul0_ch%d" % i] = {
        "type": "local",
        "module": "artiq.coredevice.ad9910",
        "class": "AD9910",
        "arguments": {
            "pll_n": 32,
            "pll_en": 1,
            "chip_select": 4 + i,
            "cpld_device": "urukul0_cpld",
            "sw_device": "ttl_urukul0_sw%d" % i,
        },
        # used by the GUI
        "comment": "AOM at {} MHz".format(f),
    }
    device_db[name] = "urukul0_ch%d" % i

# who is who
device_db["pmt"] = "ttl0"
device_db["pmt_counter"] = "ttl0_counter"
device_db["line_trigger"] = "ttl1"
device_db["shutter_397"] = "ttl6"
device_db["scope_trigger"] = "ttl7"

# other machines
for port, name, driver in [(3249, "laser_397", "wavemeter_lock"), (3250, "oven", "aqctl_psu"), (3251, "camera", "andor")]:
    device_db[name] = {
        "type": "controller",
        "host": "10.255.6.4",
        "port": port,
        "target_name": name,
        "command": driver + " -p {port} --bind {bind} --no-localhost-bind",
    }
