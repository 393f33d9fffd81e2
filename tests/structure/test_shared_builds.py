"""Programs, tests and the extension module share their libraries: each is compiled once.

cargo chooses the features of a library by the packages that it builds and by whether it builds tests. A library that
has others in one of these builds is compiled again there, and so is all that depends on it. Lines of
src/hub/Cargo.toml and src/native/Cargo.toml therefore name the features that libraries have in the build of the tests.
"""

import json
import os
import subprocess

import pytest

from tests.support.paths import ROOT


def libraries(*command: str) -> set[tuple]:
    """Return the libraries that a command of cargo compiles: package, name, level of optimisation and features."""
    # cargo lists its units only with an unstable option.
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1"}
    full = ["scripts/rust-env", "cargo", *command, "--release", "--locked", "-Zunstable-options", "--unit-graph"]
    listed = subprocess.run(full, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    return {
        (unit["pkg_id"], unit["target"]["name"], unit["profile"]["opt_level"], tuple(unit["features"]))
        for unit in json.loads(listed)["units"]
        if unit["mode"] == "build" and unit["target"]["kind"] in (["lib"], ["proc-macro"])
    }


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["build", "--workspace", "--bins"], id="programs"),
        pytest.param(["build", "--workspace", "--examples"], id="examples"),
        pytest.param(["rustc", "--package", "kairos-native", "--lib"], id="extension module"),
    ],
)
def test_libraries_of_other_builds_have_the_features_of_the_tests(command):
    assert libraries(*command) - libraries("test", "--workspace", "--no-run") == set()
