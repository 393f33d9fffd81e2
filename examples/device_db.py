"""Devices of the emulated demo system: four bidirectional and eight output TTL channels, DMA, the
cache, and two devices on the I2C bus.

With a real device, replace the host by its address. The core's target is always the Cortex-A9.
"""

device_db = {
    "core": {
        "type": "local",
        "module": "artiq.coredevice.core",
        "class": "Core",
        "arguments": {"host": "emulator://demo", "ref_period": 1e-9, "ref_multiplier": 8, "target": "cortexa9"},
    },
}

for name, module, driver in [
    ("core_dma", "dma", "CoreDMA"),
    ("core_cache", "cache", "CoreCache"),
    ("i2c_switch", "i2c", "I2CSwitch"),
    ("i2c_expander", "i2c", "PCF8574A"),
]:
    device_db[name] = {"type": "local", "module": f"artiq.coredevice.{module}", "class": driver, "arguments": {}}

for channel in range(12):
    device_db[f"ttl{channel}"] = {
        "type": "local",
        "module": "artiq.coredevice.ttl",
        "class": "TTLInOut" if channel < 4 else "TTLOut",
        "arguments": {"channel": channel},
    }
