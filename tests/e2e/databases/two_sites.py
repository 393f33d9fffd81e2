# Master in the laser site, satellite at the trap (30 m of fibre). DRTIO destinations: 1 = trap
# Gateware: pair
from collections import OrderedDict

device_db = OrderedDict()
device_db["core"] = {
    "type": "local",
    "module": "artiq.coredevice.core",
    "class": "Core",
    "arguments": {
        "host": "kasli-master.lab",
        "ref_period": 1e-9,
        "ref_multiplier": 8,
        "target": "cortexa9",
        "satellite_cpu_targets": {1: "cortexa9"},
    },
}
device_db["core_cache"] = {"type": "local", "module": "artiq.coredevice.cache", "class": "CoreCache"}
device_db["core_dma"] = {"type": "local", "module": "artiq.coredevice.dma", "class": "CoreDMA"}

LASERS, TRAP = 0x000000, 0x010000
SITES = {"lasers": LASERS, "trap": TRAP}

for site, base in SITES.items():
    for n in range(12):
        device_db["{}_ttl{}".format(site, n)] = {
            "type": "local",
            "module": "artiq.coredevice.ttl",
            "class": ["TTLInOut", "TTLOut"][n >= 4],
            "arguments": {"channel": base + n},
        }

device_db["pmt"] = "trap_ttl0"
device_db["camera_trigger"] = "trap_ttl4"
device_db["shutters"] = "lasers_ttl4"
device_db["detect"] = "shutters"

# run from the control PC, see wiki
device_db["influx"] = {"type": "controller", "host": "::1", "port": 3240, "command": "python -m influx_bridge -p {port}"}
device_db["scheduler_gui"] = {"type": "controller_aux_target", "controller": "influx", "target_name": "gui"}
