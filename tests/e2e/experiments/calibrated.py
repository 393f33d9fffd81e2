"""A synthesiser with its calibration in its card's EEPROM, using the device database that comes
with the gateware."""

from artiq.experiment import *


class Calibrated(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.eeprom = self.get_device("eeprom_urukul0")
        self.dds = self.get_device("urukul0_ch1")

    @kernel
    def run(self):
        # The beginning of the card's EUI-48: Microchip's prefix
        print("card", self.eeprom.read_i32(0xFA))
        print("erased", self.eeprom.read_i32(68))
        self.eeprom.write_i32(68, 0x0B030000)
        print("written", self.eeprom.read_i32(68))
        self.core.reset()
        self.dds.init(blind=True)
        print("delays", self.dds.sync_data.sync_delay_seed, self.dds.sync_data.io_update_delay)
