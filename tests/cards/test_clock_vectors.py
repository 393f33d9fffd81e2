"""Si5324: dividers and bandwidth of the settings of the RTIO clock, as tabled for the firmware.

The bytes that the firmware writes for them: `src/firmware/clocking/src/si5324/tests.rs`.
"""

import re
import tomllib

from tests.support.paths import ROOT
from tests.support.vectors import vectors

TABLE = {
    (row[0], row[1]): row[2:]
    for row in tomllib.loads((ROOT / "src/contracts/chips/si5324.toml").read_text())["table"][0]["rows"]
}
CRYSTAL = 114_285_000
BYTES = (ROOT / "src/firmware/clocking/src/si5324/tests.rs").read_text()


@vectors("si5324")
def test_tabled_settings_are_those_of_the_boards(vector):
    kind, *numbers = re.match(r"(ext|int) (\d+)(?: MHz)?(?: -> (\d+))?", vector["option"]).groups()
    mhz = [int(number) for number in numbers if number]
    source = CRYSTAL if kind == "int" else mhz[0] * 1_000_000
    n1_hs, nc1_ls, n2_hs, n2_ls, n3, bandwidth = TABLE[source, mhz[-1] * 1_000_000]
    assert [n1_hs, nc1_ls, n2_hs, n2_ls, n3, bandwidth] == vector["dividers"]
    assert abs(source * n2_hs * n2_ls / (n3 * n1_hs * nc1_ls) - vector["f_out"]) < 1
    registers = list(vector["regs"].values())
    # N1_HS, NC1, NC2, N2, N31, N32, bandwidth
    words = [registers[6][0], *registers[:2], registers[3], registers[4]]
    expected = ", ".join(f"0x{word}" for word in words)
    assert f"[{expected}]" in BYTES, "the firmware's test expects these bytes"
    assert (registers[1], registers[4]) == (registers[2], registers[5])
