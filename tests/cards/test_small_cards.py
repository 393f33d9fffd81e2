"""Words of cards and chips with a serial bus, as their drivers send them: Urukul, Mirny with its chips, AD9834."""

import pytest
from numpy import int64

from kairos.coredevice.ad9910_delays import StoredDelays, StoredSharedDelays
from kairos.coredevice.tests.traffic import devices, run
from kairos.language import kernel
from kairos.selftest.calibration import word_of_chip, word_of_servo
from tests.support.vectors import vectors

SPI, SWITCH, FASTINO = 1, 2, 3
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "switch": ("ttl.TTLOut", {"channel": SWITCH}),
    "mirny": ("mirny.Mirny", {"spi_device": "spi", "clk_sel": 3}),
    "almazny": ("almazny.AlmaznyChannel", {"host_mirny": "mirny", "channel": 1}),
    "ad9834": ("ad9834.AD9834", {"spi_device": "spi"}),
    "fastino": ("fastino.Fastino", {"channel": FASTINO}),
}


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


def sent(method, *args):
    """Return the words of 32 bits that a method puts on the bus."""
    return [f"{data:08x}" for address, data in run(method, *args).on(SPI) if address == 0]


@vectors("urukul_cfg")
def test_urukul_configuration_is_the_word_of_its_revision(vector):
    given = vector["settings"]
    names = {"rf": "rf_sw", "clk": "clk_sel", "div": "clk_div", "ss": "sync_sel"}
    arguments = {argument: given[name] for name, argument in names.items() if name in given}
    for revision, digits, key in [(8, 6, "rev8_spi_word"), (9, 13, "rev9_spi_words")]:
        cpld = "urukul.CPLD", {"spi_device": "spi", "proto_rev": revision, **arguments}
        cpld = devices(ENTRIES | {"cpld": cpld}).get("cpld")
        word = cpld.cfg_reg | given.get("led", 0) << cpld.version.CFG_LED
        word |= given.get("mask", 0) << cpld.version.CFG_MASK_NU | given.get("iorst", 0) << cpld.version.CFG_IO_RST
        assert f"{int(word):0{digits}x}" == vector[f"rev{revision}"]
        assert sent(cpld.cfg_write, int64(word)) == ([vector[key]] if revision == 8 else vector[key])


@vectors("mirny_almazny")
def test_mirny_and_almazny_words_are_those_of_the_cards(get, vector):
    mirny, almazny = get("mirny"), get("almazny")
    if "results" in vector:
        for att, enable, led, word in vector["results"]:
            # The switches as bool or int
            for kind in (bool, int):
                assert f"{almazny.to_mu(att, kind(enable), kind(led)):02x}" == word
                assert sent(almazny.set, att, kind(enable), kind(led))[1] == word + "000000"
        return
    name = vector["call"].partition("(")[0]
    method, args = {
        "Mirny.set_att": (mirny.set_att, (2, 10.0)),
        "Mirny register 1 write, clk_sel 3": (mirny.init, (True,)),
        "Mirny.write_ext": (mirny.write_ext, (0xD, 8, 0x54)),
    }[name]
    assert sent(method, *args) == vector.get("words", [vector.get("word")])


def synthesiser(vector):
    """Return the ADF5356 of a vector, in a device database of its own."""
    mirny = ("mirny.Mirny", {"spi_device": "spi", "refclk": vector["refclk"]})
    arguments = {
        "cpld_device": "mirny",
        "sw_device": "switch",
        "channel": 0,
        "ref_divider": vector.get("ref_divider", False),
    }
    return devices(ENTRIES | {"mirny": mirny, "pll": ("adf5356.ADF5356", arguments)}).get("pll")


@vectors("adf5356")
def test_adf5356_registers_are_written_in_order(vector):
    pll = synthesiser(vector)
    if "f" not in vector:
        assert " ".join(f"{int(word) & 0xFFFFFFFF:08x}" for word in pll.regs) == vector["words"]
        return
    # Each word follows its header
    words = sent(pll.set_frequency, vector["f"])[1::2]
    passes = [words] if "|" not in vector["words"] else [words[:14], words[14:]]
    assert " | ".join(" ".join(each) for each in passes) == vector["words"]


@vectors("ad9834_set")
def test_ad9834_set_writes_a_word_per_change(vector):
    get = devices(ENTRIES).get
    dds = get("ad9834")
    assert sent(dds.init) == ["01000000"]
    dds.ctrl_reg = 0x0100
    arguments = vector["f"], vector["phase"], vector["freq_reg"], vector["phase_reg"]
    assert f"{dds.frequency_to_ftw(vector['f']):07x}" == vector["ftw"]
    assert [word[:4] for word in sent(dds.set, *arguments)] == vector["words"]


@vectors("fastino_voltage")
def test_fastino_voltages_have_their_codes(get, vector):
    fastino = get("fastino")
    if "group" in vector:
        words = [0]
        fastino.voltage_group_to_mu(vector["group"], words)
        assert f"{int(words[0]) & 0xFFFFFFFF:08x}" == vector["word"]
    else:
        assert fastino.voltage_to_mu(vector["volt"]) == vector["code"]


class ReadsDelays:
    """Reads the delays of one chip, or of those of a servo, from an EEPROM, in a kernel."""

    kernel_invariants = {"core", "delays"}

    def __init__(self, delays):
        self.core, self.delays = delays.core, delays

    @kernel
    def of_chip(self):
        self.delays.init()
        return self.delays.sync_delay_seed, self.delays.io_update_delay

    @kernel
    def of_servo(self):
        self.delays.init()
        seeds = self.delays.sync_delay_seeds
        return seeds[0], seeds[1], seeds[2], seeds[3], self.delays.io_update_delay


def reader(card, offset):
    """Reads the delays of a card, "Urukul" or "SU-Servo", from an EEPROM."""
    entries = {
        "switch0": ("i2c.I2CSwitch", {"address": 0xE0}),
        "switch1": ("i2c.I2CSwitch", {"address": 0xE2}),
        "eeprom": ("kasli_i2c.KasliEEPROM", {"port": "EEM0", "sw0_device": "switch0", "sw1_device": "switch1"}),
    }
    manager = devices(entries)
    kind = StoredSharedDelays if "SU-Servo" in card else StoredDelays
    return ReadsDelays(kind(manager, manager.get("core"), f"eeprom:{offset}"))


@vectors("eeprom_words")
def test_calibration_words_of_urukuls_are_decoded(vector):
    of_servo = "SU-Servo" in vector["card"]
    reads = reader(vector["card"], vector.get("offset", 64))
    found = run(reads.of_servo if of_servo else reads.of_chip, i2c=bytes.fromhex(vector["word"])).value
    if of_servo:
        assert found == ((31, 31, 31, 31, 0) if "gives" in vector else (15, 16, 17, 18, 3))
    else:
        assert found == ((-1, 0) if "gives" in vector else (15, 3))


@pytest.mark.parametrize("word, wanted", [("0fff0000", (15, 0)), ("ff030000", (-1, 3)), ("1f000000", (31, 0))])
def test_absent_delay_of_updates_does_not_depend_on_the_seed(word, wanted):
    assert run(reader("Urukul", 64).of_chip, i2c=bytes.fromhex(word)).value == wanted


@pytest.mark.parametrize("delays", [(0, 0), (15, 3), (31, 7)])
def test_written_word_of_a_chip_is_read_as_measured(delays):
    word = word_of_chip(*delays) & 0xFFFFFFFF
    assert run(reader("Urukul", 64).of_chip, i2c=word.to_bytes(4, "big")).value == delays


@pytest.mark.parametrize("update, read", [(5, 5), (None, 0)])
def test_written_word_of_a_servo_is_read_as_measured(update, read):
    word = word_of_servo([0, 31, 7, 16], update) & 0xFFFFFFFF
    found = run(reader("SU-Servo", 64).of_servo, i2c=word.to_bytes(4, "big")).value
    assert found == (0, 31, 7, 16, read)
