"""The hub's protocol files are documented and compatible, and their manual page is up to date."""

import shutil
from pathlib import Path

import pytest

from tests.support.hub import PROTOCOL as protocol

HUB = Path(__file__).parents[2] / "src" / "hub"
FILE = "proto/kairos/hub/v1/hub.proto"
RENEW = "renew it with 'make protocol'"


@pytest.fixture
def changed(tmp_path):
    """`changed(old, new)` returns a copy of the protocol with a text replaced."""

    def change(old, new):
        for name in ("buf.yaml", protocol.PROMISED):
            shutil.copy(HUB / name, tmp_path)
        shutil.copytree(HUB / "proto", tmp_path / "proto")
        text = (tmp_path / FILE).read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {FILE}"
        if old.startswith("package"):
            shutil.rmtree(tmp_path / "proto" / "kairos" / "lab")  # it would miss the former package
        # The package is the same in all files.
        for path in (tmp_path / "proto").rglob("*.proto"):
            path.write_text(path.read_text().replace(old, new))
        return tmp_path

    return change


def test_protocol_is_documented_and_compatible():
    protocol.check()


def test_complete_protocol_is_recorded_as_promised():
    try:
        protocol.buf(HUB, "breaking", protocol.PROMISED, "--exclude-imports", "--against", ".")
    except protocol.Wrong as wrong:
        pytest.fail(f"{protocol.PROMISED} lacks something: {RENEW}\n{wrong}")


def test_page_of_the_protocol_is_up_to_date():
    assert protocol.PAGE.read_text() == protocol.page(), f"docs/hub-api.md is stale: {RENEW}"
    laboratory = protocol.page(package=protocol.LABORATORY)
    assert protocol.LABORATORY_PAGE.read_text() == laboratory, f"docs/lab-api.md is stale: {RENEW}"


def test_protocol_description_of_the_laboratory_equals_the_generated_one():
    assert protocol.DESCRIPTION.read_text() == protocol.description(), f"{protocol.DESCRIPTION} is stale: {RENEW}"


@pytest.mark.parametrize(
    "old, new, text",
    [
        ("uint32 width = 2;", "uint32 width = 7;", 'field "2" with name "width" on message "Register" was deleted'),
        ("uint32 width = 2;", "uint64 width = 2;", 'changed type from "uint32" to "uint64"'),
        ("uint32 width = 2;", "repeated uint32 width = 2;", "changed cardinality"),
        ("uint32 width = 2;", "uint32 bits = 2;", 'changed name from "width" to "bits"'),
        ("  bool connected = 3;\n", "", '"connected" on message "Device" was deleted'),
        ("rpc Watch(WatchRequest)", "rpc Follow(WatchRequest)", '"Watch" on service "Registers" was deleted'),
        ("rpc Health(HealthRequest)", "rpc Health(LogRequest)", "changed request type"),
        ("returns (stream LogResponse)", "returns (LogResponse)", "from server streaming to server unary"),
        ("service Monitor {", "service Watcher {", 'service "Monitor" was deleted'),
        ("CONDITION_WARNING = 3", "CONDITION_POOR = 3", 'from "CONDITION_WARNING" to "CONDITION_POOR"'),
        ("package kairos.hub.v1;", "package kairos.hub.v1beta1;", "package"),
    ],
    ids=lambda value: value if " = " in value or "rpc" in value else None,
)
def test_incompatible_protocol_change_is_refused(changed, old, new, text):
    with pytest.raises(protocol.Wrong, match=FILE) as wrong:
        protocol.buf(changed(old, new), "breaking", "--exclude-imports", "--against", protocol.PROMISED)
    assert text in str(wrong.value)


WRITE = """  rpc Write(WriteRequest) returns (WriteResponse) {
    option (role) = ROLE_%s;"""


@pytest.mark.parametrize(("role", "name"), [("LOOK", "view"), ("ADMINISTER", "administer")])
def test_changed_role_of_a_method_is_refused(changed, role, name):
    with pytest.raises(protocol.Wrong, match=f"Registers.Write asks for the role {name}, and was promised"):
        protocol.check(changed(WRITE % "OPERATE", WRITE % role))


def test_changed_role_number_is_refused(changed):
    with pytest.raises(protocol.Wrong, match="asks for the role unspecified, and was promised"):
        protocol.check(changed("Role role = 51380;", "Role role = 51381;"))


def test_addition_to_the_protocol_is_accepted(changed):
    more = "// Name of its chip.\n  string chip = 60;\n  // Why the device does not answer.\n  string error = 5;"
    protocol.check(changed("// Why the device does not answer.\n  string error = 5;", more))


def test_undocumented_field_of_protocol_is_refused(changed):
    with pytest.raises(protocol.Wrong, match='Field "follow" should have a non-empty comment'):
        protocol.check(changed("  // Continue with new lines as they arrive.\n", ""))
