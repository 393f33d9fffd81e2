"""The examples that compute in the memory and logic of other boards: their results are right."""

import pytest

from tests.support.command import Kairos
from tests.support.gateware import built, built_from
from tests.support.paths import EXAMPLES


@pytest.mark.parametrize(
    "file, name, system, shown",
    [
        ("stencil", "Stencil", "system", "64 rows on 2 boards: "),
        pytest.param("stencil", "StencilFour", "four_boards", "64 rows on 4 boards: ", marks=pytest.mark.long),
        pytest.param("stencil", "StencilEight", "eight_boards", "64 rows on 8 boards: ", marks=pytest.mark.long),
        pytest.param("accelerator", "Accelerator", "system", "by copies: 100 sums, 0 wrong", marks=pytest.mark.long),
        pytest.param("stream", "Stream", "system", "engine, both directions", marks=pytest.mark.long),
    ],
)
def test_examples_on_several_boards_print_the_expected_results(tmp_path, file, name, system, shown):
    if system == "eight_boards":
        built_from(*(EXAMPLES / "remote/eight").glob("*.json"))
    else:
        built("store", "memory_star" if system == "four_boards" else "memory")
    done = Kairos(tmp_path)(
        "run",
        EXAMPLES / "remote" / f"{file}.py",
        "-c",
        name,
        "--no-table",
        device_db=EXAMPLES / "remote" / "device_db.py",
        env={"SYSTEM": f"{system}.toml"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert shown in done.stdout
