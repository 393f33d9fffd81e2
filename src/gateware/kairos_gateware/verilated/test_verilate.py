"""Two processes that build in one folder."""

import threading
import time

from kairos_gateware.verilated.verilate import building_alone


def test_concurrent_builders_of_a_folder_take_turns(tmp_path):
    inside, most = [], []

    def build():
        with building_alone(tmp_path / "engines") as output:
            assert output.is_dir()
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()

    builders = [threading.Thread(target=build) for _ in range(8)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert most == [1] * 8
