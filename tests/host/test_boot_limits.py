"""The time that boards have for booting before an emulator is given up: more boards take longer."""

import pytest

from kairos.emulator import process

ONE = (process.READY_TIMEOUT, process.STARVED_TIMEOUT)


def test_each_board_of_a_description_has_time_to_boot(tmp_path):
    system = tmp_path / "system.toml"
    system.write_text('[[board]]\nname = "one"\n' * 8)
    processor, starved = process.boot_limits(str(system))
    assert processor == 8 * ONE[0] and starved > processor
    assert process.boot_limits("chain")[0] == 3 * ONE[0]


@pytest.mark.parametrize("content", ["", "board = 3", "[[board]", "[[link]]"])
def test_description_without_boards_has_the_time_of_one(tmp_path, content):
    """What is wrong with it is the emulator's to say."""
    (system := tmp_path / "system.toml").write_text(content)
    for what in ("demo", str(system), str(tmp_path / "none.toml")):
        assert process.boot_limits(what) == ONE
