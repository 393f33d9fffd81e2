"""`unsafe` is confined: the documentation lists exactly the firmware files that contain it.
Each use states its own reason, and every static has an owner.

That each use states any reason is checked by clippy (`make lint`), with the lints of Cargo.toml.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = {
    **{name: f"src/firmware/{name}/src" for name in ("chip", "comms", "intercore", "pl")},
    **{name: f"src/{name}/src" for name in ("runtime", "satman")},
    "first": "src/firmware/boot/first/src",
}
"""Folders with which a name in a table may begin."""
PAGES = {
    # page: (folder for names without a folder, folders that the page covers)
    "firmware.md": (
        "",
        [
            "src/firmware/chip/src",
            "src/firmware/intercore/src",
            "src/firmware/pl/src",
            "src/firmware/comms/src",
            "src/runtime/src",
            "src/satman/src",
        ],
    ),
    "kernel-core.md": ("src/kernel/src", ["src/kernel/src"]),
    "boot.md": ("src/firmware/boot/src", ["src/firmware/boot/src", "src/firmware/boot/first/src"]),
}
FIRMWARE = ("batch", "clocking", "config", "health", "links", "net", "unwind")
SAFE = [
    *(f"src/{name}/src" for name in ("bench", "compiler", "hub", "proto", "pulse")),
    *(f"src/firmware/{name}/src" for name in FIRMWARE),
]


def has_unsafe(text):
    """Returns whether Rust code contains the keyword, or global assembly, which does not need it."""
    code = re.sub(r"//.*", "", text)
    return re.search(r"\bunsafe\b|\bglobal_asm!", code) is not None


def files_with_unsafe(folder):
    """Returns paths of such files below `folder`, without tests, which run on the host."""
    files = (ROOT / folder).rglob("*.rs")
    return {str(f.relative_to(ROOT)) for f in files if f.name != "tests.rs" and has_unsafe(f.read_text())}


def named(page):
    """Returns the paths in the page's table. A name without folder is in the folder of the preceding name."""
    default, _ = PAGES[page]
    section = re.search(r"## Where `unsafe` lives\n(.*?)(\n## |\Z)", (ROOT / "docs" / page).read_text(), re.DOTALL)
    assert section, f"docs/{page} has no section on unsafe"
    found = set()
    for row in re.findall(r"^\| (`.*?) \|", section[1], re.MULTILINE):
        folder = default
        for name in re.findall(r"`([\w/]+\.rs)`", row):
            if "/" in name:
                crate, *inner = name.split("/")[:-1]
                folder = "/".join([CRATES.get(crate, f"{default}/{crate}"), *inner])
            found.add(f"{folder}/{name.split('/')[-1]}")
    return found


def test_scan_finds_unsafe_in_code_but_not_comments():
    assert has_unsafe("let x = unsafe { y };") and has_unsafe('global_asm!("nop");')
    assert not has_unsafe("// unsafe\n#![forbid(unsafe_code)]")


@pytest.mark.parametrize("page", PAGES)
def test_documentation_lists_every_file_with_unsafe(page):
    _, folders = PAGES[page]
    real = set().union(*(files_with_unsafe(folder) for folder in folders))
    missing, stale = sorted(real - named(page)), sorted(named(page) - real)
    assert not missing, f"docs/{page}, 'Where unsafe lives': say why for {missing}"
    assert not stale, f"docs/{page}, 'Where unsafe lives': no unsafe any more in {stale}"


@pytest.mark.parametrize("folder", SAFE)
def test_formats_and_services_have_no_unsafe(folder):
    assert "#![forbid(unsafe_code)]" in (ROOT / folder / "lib.rs").read_text()
    assert files_with_unsafe(folder) == set()


def test_mapped_memory_is_accessed_in_one_file():
    assert files_with_unsafe("src/hub/endpoint/src") == {"src/hub/endpoint/src/memory.rs"}


def rust_files():
    return [path for path in (ROOT / "src").rglob("*.rs") if "target" not in path.parts]


def test_no_firmware_file_has_a_mutable_static():
    """Statics have owners: `static_cell`, the cells of src/kernel/src/owned.rs, `uncleared!` of src/firmware/comms."""
    statics = re.compile(r"^\s*(?:pub(?:\([a-z ]+\))? )?static mut\b", re.MULTILINE)
    assert statics.search("    static mut ROOM: u8 = 0;") and statics.search("pub(crate) static mut A: u8 = 0;")
    assert not statics.search("room: &'static mut [u8]")
    found = [str(path.relative_to(ROOT)) for path in rust_files() if statics.search(path.read_text())]
    assert not found, f"static mut: give it an owner in {found}"


def test_each_use_states_its_own_reason():
    borrowed = re.compile(r"SAFETY: (?:[Aa]s (?:above|before|below|for|in)\b|[Ss]ee\b|[Ss]ame\b|[Ll]ikewise\b)")
    assert borrowed.search("// SAFETY: as above; it is there.")
    assert not borrowed.search("// SAFETY: as the loader has checked")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in rust_files()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if borrowed.search(line)
    ]
    assert not found, f"a reason that stands elsewhere: {found}"
