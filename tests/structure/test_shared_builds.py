"""Programs, tests and the extension module share their libraries: each is compiled once, with the same features.

cargo chooses the features of a library by the packages that it builds and by whether it builds tests. A library that has
others in one of these builds is compiled again there, and so is all that depends on it.
"""

import subprocess

from tests.support.paths import ROOT

FIRMWARE = "vendor/smoltcp"
"""Only the firmware has this library: with `std` in tests alone."""


def libraries(packages: list[str], edges: str) -> set[str]:
    """Return the libraries of a build, as name, version and features."""
    command = ["scripts/rust-env", "cargo", "tree", "--locked", "--offline", *packages, "--no-dedupe"]
    command += ["--prefix", "none", "--format", "{p} {f}", "--edges", edges]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line for line in listed.splitlines() if line and FIRMWARE not in line}


def test_libraries_of_programs_have_the_same_features_in_tests():
    assert libraries(["--workspace"], "no-dev") - libraries(["--workspace"], "normal,build,dev") == set()


def test_libraries_of_the_extension_module_have_the_features_of_the_workspace():
    assert libraries(["--package", "kairos-native"], "no-dev") - libraries(["--workspace"], "no-dev") == set()
