"""As `test_sufficient.py`, for changes of the page, which its type check and its build accept."""

import gzip
import shutil

import pytest

from tests.structure.copies import ROOT, only_named

WORK = ROOT / "build" / "page-work"
"""Where the page of the tree is built, with the packages that it needs."""

GREETING = """<script lang="ts">
  import { lab } from "../lib/state.svelte";
</script>

<section aria-labelledby="greeting">
  <h2 id="greeting">Greeting</h2>
  <p>A made-up panel that greets {lab.session?.name ?? "everybody"}.</p>
</section>
"""


@pytest.fixture
def page(tree):
    """Builds the page of the copy."""
    if not shutil.which("npm") or not (WORK / "node_modules").exists():
        pytest.skip("the page is not built here")
    work = tree.path / "build" / "page-work"
    work.mkdir(parents=True)
    (work / "node_modules").symlink_to(WORK / "node_modules")
    shutil.copy2(WORK / "package-lock.json", work)
    (tree.path / "build" / "venv").symlink_to(ROOT / "build" / "venv")
    return lambda **options: tree.run("scripts/build-page", **options)


@pytest.mark.long
def test_panel_needs_only_named_files(tree, page):
    panel, names = "src/page/src/panels/Panel.svelte", "src/page/src/lib/docks.ts"
    tree.add("src/page/src/panels/Greeting.svelte", GREETING)
    tree.change(names, '"Logbook", "Log"] as const', '"Logbook", "Log", "Greeting"] as const')
    page(code=1)  # svelte-check finds what is missing
    tree.change(names, '  Log: "Log",\n', '  Log: "Log",\n  Greeting: "Greeting",\n')
    tree.change(
        panel, '  import Log from "./Log', '  import Greeting from "./Greeting.svelte";\n  import Log from "./Log'
    )
    tree.change(panel, "Devices, Log,", "Devices, Greeting, Log,")
    page()
    scripts = (tree.path / "build" / "page" / "assets").glob("*.js.gz")
    assert any(b"A made-up panel that greets" in gzip.decompress(script.read_bytes()) for script in scripts)
    only_named(tree, "a part of the page", "Greeting")
