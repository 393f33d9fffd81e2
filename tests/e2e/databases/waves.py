# Arbitrary waves: Songbird on the EFC in slot 9 -- here still on the crate that has it directly.
# Gateware: songbird
_host = ("wave-crate", 0)[0]
device_db = {}
exec("""
device_db["core"] = {"type": "local", "module": "artiq.coredevice.core", "class": "Core", "arguments": {"host": _host, "ref_period": 1e-9, "target": "cortexa9"}}
""")
T = "artiq.coredevice.songbird"
for name, module, cls, args in (
    ("Trig", "artiq.coredevice.ttl", "TTLOut", {"channel": 0x000000}),
    ("LTC2000_SPI", "artiq.coredevice.spi2", "SPIMaster", {"channel": 0x000001}),
    ("AWG", T, "Songbird", {"spi_device": "LTC2000_SPI", "channel": 0x000002}),
    *((f"AWG.{n}", T, "DDS", {"channel": 0x000005 + 2 * n, "config_device": "AWG", "dds_no": n}) for n in range(4)),
):
    device_db[name] = {"type": "local", "module": module, "class": cls, "arguments": args}
device_db.update({"Raman": "AWG.0", "Raman2": "AWG.1", "#spare": "AWG.3"})
device_db.update({"keysight": {"type": "controller", "host": "ks33600", "port": 3271}})   # the old AWG
