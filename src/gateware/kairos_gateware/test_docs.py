"""The pages of docs/gateware/ agree with the code."""

import re

import pytest

from kairos_gateware import docs
from kairos_gateware.dma.registers import DmaRegisters
from kairos_gateware.variants import VARIANTS


def test_tables_of_registers_are_up_to_date():
    pages = {path.name: path.read_text() for path in docs.PAGES.glob("*.md")}
    stale = [name for name, text in docs.render(pages).items() if text != pages[name]]
    assert stale == [], "run `python -m kairos_gateware.docs`"


def test_outdated_register_page_is_reported():
    pages = {path.name: path.read_text() for path in docs.PAGES.glob("*.md")}
    pages["dma.md"] = pages["dma.md"].replace("| `dma_base` | 32 |", "| `dma_base` | 64 |")
    assert "| `dma_base` | 32 |" in docs.render(pages)["dma.md"]


@pytest.mark.parametrize(
    ("uses", "text"),
    [
        ({}, "dma_enable is not described in DmaRegisters.USES"),
        (DmaRegisters.USES | {"more": "text"}, "DmaRegisters.USES describes more, which dma does not have"),
    ],
)
def test_every_register_has_one_description(monkeypatch, uses, text):
    monkeypatch.setattr(DmaRegisters, "USES", uses)
    with pytest.raises(ValueError, match=text):
        docs.register_tables()


def test_register_block_without_page_is_reported():
    with pytest.raises(ValueError, match="have a place for \\['rtio'\\]"):
        docs.render({"rtio.md": "<!-- registers of rtio -->\n<!-- end -->\n"})


def test_row_of_variants_names_all_of_them():
    page = (docs.PAGES.parent / "gateware.md").read_text()
    row = re.search(r"^\| `variants` \|([^|]*)\|", page, re.MULTILINE)[1]
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(VARIANTS)


def test_links_in_pages_lead_to_existing_files():
    pages = [*docs.PAGES.glob("*.md"), *docs.PAGES.parent.glob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())]
    assert len(links) > 40
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
