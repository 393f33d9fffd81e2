"""Lattice: one master and three satellites (racks 1 to 3). Rack 4 is ordered; its entries are here already so that
people can write experiments."""
# Gateware: star
import json, pathlib

FOLDER = pathlib.Path(__file__).parent
RACKS = json.loads((FOLDER / "three_racks.json").read_text())

device_db = {"core": {"type": "local", "module": "artiq.coredevice.core", "class": "Core", "arguments": {
    "host": RACKS["master"], "ref_period": 1e-9, "ref_multiplier": 8, "target": "cortexa9",
    "satellite_cpu_targets": {int(k): "cortexa9" for k in RACKS["satellites"]}}},
    "core_cache": {"type": "local", "module": "artiq.coredevice.cache", "class": "CoreCache", "arguments": {}},
    "core_dma": {"type": "local", "module": "artiq.coredevice.dma", "class": "CoreDMA", "arguments": {}}}

for rack in range(5):
    for n in range(12):
        device_db["rack{}/ttl{:02d}".format(rack, n)] = {"type": "local", "module": "artiq.coredevice.ttl",
            "class": "TTLInOut" if n < 4 else "TTLOut", "arguments": {"channel": rack << 16 | n}}
for n in range(4):  # not delivered yet (see above)
    device_db[f"rack4/mirny_ch{n}"] = {"type": "local", "module": "artiq.coredevice.adf5356", "class": "ADF5356",
        "arguments": {"channel": n, "sw_device": f"rack4/ttl{4 + n:02d}", "cpld_device": "rack4/mirny_cpld"}}
device_db["rack4/spi_mirny"] = {"type": "local", "module": "artiq.coredevice.spi2", "class": "SPIMaster", "arguments": {"channel": 0x40010}}
device_db["rack4/mirny_cpld"] = {"type": "local", "module": "artiq.coredevice.mirny", "class": "Mirny",
    "arguments": {"spi_device": "rack4/spi_mirny", "refclk": 1e8, "clk_sel": "mmcx"}}
device_db["push_beam"] = "rack1/ttl04"
device_db["MOT shutter"] = "rack2/ttl05"
device_db["camera"] = {"type": "controller", "host": "10.0.7.3", "port": 3283, "command": "andor_server -p {port}"}
