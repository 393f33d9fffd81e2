"""I2C and the cache on the device."""

from artiq.coredevice.exceptions import I2CError
from artiq.coredevice.i2c import *
from artiq.experiment import *


class I2C(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_cache")
        self.setattr_device("i2c_switch")
        self.setattr_device("i2c_expander")

    @kernel
    def bus(self):
        self.i2c_switch.unset()
        print("expander", i2c_poll(0, 0x7C), "switch", i2c_poll(0, 0xE8))
        try:
            self.i2c_expander.set(1)
        except I2CError:
            print("not acknowledged")
        self.i2c_switch.set(2)
        print("expander", i2c_poll(0, 0x7C), "switch", i2c_read_byte(0, 0xE8))
        self.i2c_expander.set(0x5A)
        print("pins", self.i2c_expander.get())
        i2c_write_many(0, 0xA0, 16, [1, 2, 254, 255])
        data = [0] * 5
        i2c_read_many(0, 0xA0, 16, data)
        print(data)

    @kernel
    def put(self):
        self.core_cache.put("some", [1, -2, 3])
        self.core_cache.put("none", [0] * 0)

    @kernel
    def get(self):
        values = self.core_cache.get("some")
        print(values)
        values[0] = 7
        print(self.core_cache.get("some"), len(self.core_cache.get("none")), len(self.core_cache.get("unknown")))

    def run(self):
        self.bus()
        self.put()
        self.get()
