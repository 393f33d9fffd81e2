"""Runs the commands shown in the page on experiments and the README, and compares their output with the text."""

import ast
import re
import shlex
import subprocess
import sys

import pytest

from kairos import cli, compat
from kairos.cli import commands as subcommands
from tests.support import TIMEOUT
from tests.support.gateware import built
from tests.support.pages import BLOCK, commands, pattern
from tests.support.paths import ROOT

MANUAL = (ROOT / "docs" / "experiments.md").read_text()
README = (ROOT / "README.md").read_text()
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

RUN_BY = {
    "kairos analyze": "tests/host/test_tools.py::test_analyze_reads_dump_of_a_device",
    "kairos moninj": "tests/conformance/test_moninj_command.py::",
    "kairos rtiomap": "tests/host/test_tools.py::test_rtiomap_writes_and_shows_channel_names",
    "kairos controllers": "tests/host/test_supervision.py::test_ended_controller_process_is_restarted",
    "kairos lab": "tests/lab/test_lab_commands.py::test_new_laboratory_runs_a_kernel_on_an_ion",
    "kairos controllers --list": "tests/host/test_supervision.py::test_controllers_command_lists_state_or_reports_none",
    "kairos device log": "tests/boot/test_boot.py::test_commands_find_a_device_that_restarts",
    "kairos device --board satellite log": "tests/e2e/test_subkernels.py::",
    "kairos run --applets": "tests/host/test_applets.py::test_applets_created_by_experiment_are_shown",
    "python -m kairos.compat FILE": "tests/host/test_applets.py::test_user_applet_draws_datasets_of_a_file",
    "python -m kairos.compat FILE …": "tests/host/test_controllers.py::",
    "python -m kairos.applets plot_xy scan.y --x scan.x": (
        "tests/host/test_applets.py::test_each_supplied_applet_draws_its_picture"
    ),
    "artiq_run": "tests/host/test_artiq_commands.py::test_artiq_run_executes_the_experiment",
    "artiq_compile": "tests/host/test_artiq_commands.py::test_artiq_compile_writes_the_library",
    "artiq_coremgmt": "tests/host/test_artiq_commands.py::test_artiq_device_commands_parse_and_report_errors",
    "artiq_coreanalyzer": "tests/host/test_artiq_commands.py::test_artiq_coreanalyzer_prints_and_converts_dump",
    "artiq_rtiomap": "tests/host/test_artiq_commands.py::test_artiq_device_commands_parse_and_report_errors",
    "artiq_flash": "tests/host/test_artiq_commands.py::",
    "pip install build/wheels/*.whl": "tests/host/test_installed.py::test_first_run_of_installation_succeeds",
    "kairos new blink && kairos run blink.py": "tests/host/test_installed.py::test_first_run_of_installation_succeeds",
}
"""Commands in the text that are run by another test, and the name of that test."""
CANNOT_BE_USED = {"artiq_client", "artiq_master", "artiq_dashboard"}


def shown():
    """Returns all (command, lines, code) of the page, in order."""
    return [entry for kind, text in BLOCK.findall(MANUAL) if kind == "console" for entry in commands(text)]


def in_the_text(page):
    """Returns the commands outside of fenced blocks: in backquotes or indented."""
    text = FENCED.sub("", page)
    quoted = re.findall(r"`((?:kairos|artiq_\w+|python -m|pip|make)\b[^`]*)`", text)
    indented = re.findall(r"^    ((?:kairos|artiq_\w+|python|pip|make|build/).*)$", text, re.MULTILINE)
    found = [re.sub(r"\s+", " ", command.partition(" #")[0]).strip() for command in [*quoted, *indented]]
    return {command for command in found if not command.startswith("kairos.") and command not in ("kairos", "make")}


def test_manual_commands_print_shown_output(typed, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for block in BLOCK.finditer(MANUAL):
        language, text = block.groups()
        if language == "python":
            said = re.search(r"Save this as `(\w+\.py)`[^`]*\Z", MANUAL[: block.start()])
            if said:
                (folder / said[1]).write_text(text)
            continue
        for command, lines, code in commands(text):
            done = typed(command, folder)
            printed = done.stdout + done.stderr
            assert done.returncode == code, f"$ {command}\n{printed}"
            assert pattern(lines).fullmatch(printed), f"$ {command}\n{printed}\nis not\n" + "\n".join(lines)
    written = {path.name for path in folder.iterdir()}
    assert {"pins.png", "pins.vcd", "result.h5", "result.png", "blink.h5", "device.log"} <= written
    assert len(shown()) >= 20


def test_scheduler_of_page_runs(tmp_path):
    (text,) = [text for kind, text in BLOCK.findall(MANUAL) if kind == "python" and "scheduler.submit" in text]
    (tmp_path / "scheduler.py").write_text(text)
    for name in ("blink.py", "device_db.py"):
        (tmp_path / name).write_text((ROOT / "examples" / name).read_text())
    done = subprocess.run(
        [sys.executable, "scheduler.py"], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0 and "blinked 3 times" in done.stdout, done.stdout + done.stderr
    assert len(list(tmp_path.glob("results/*/*/000000000-Blink.h5"))) == 1


def test_commands_of_the_readme_succeed(typed):
    lines = [line for line in sorted(in_the_text(README)) if line.startswith("build/venv/bin/kairos ")]
    assert len(lines) == 3
    built("pulse")
    for line in lines:
        done = typed(line.removeprefix("build/venv/bin/"), ROOT)
        assert done.returncode == 0, done.stderr
        assert ("define" if "--emit llvm" in line else "ttl4") in done.stdout, line


@pytest.mark.parametrize("page", [MANUAL, README], ids=["docs/experiments.md", "README.md"])
def test_every_shown_command_is_run_by_a_test(page):
    """Run here, or by the test named in the table; `make` commands must be targets of the Makefile."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    typed_here = [command for command, _, _ in shown()]
    for command in sorted(in_the_text(page) - CANNOT_BE_USED):
        if command.startswith("build/venv/bin/kairos"):
            continue  # the test above
        words = command.split()
        if words[0] == "make":
            assert words[1] in targets, command
        elif command in RUN_BY:
            file, _, name = RUN_BY[command].partition("::")
            assert f"def {name}" in (ROOT / file).read_text(), f"{command}: {RUN_BY[command]}"
        else:
            known = " ".join(word for word in words[:3] if re.fullmatch("[a-z]+", word))
            assert any(line.startswith(known) for line in typed_here), f"no test runs {command}"


def test_listed_commands_occur_in_pages():
    assert set(RUN_BY) <= in_the_text(MANUAL) | in_the_text(README)


def test_run_options_in_table_match_command():
    section = MANUAL.partition("## Running an experiment\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    named = {option for row in rows for option in re.findall(r"`(--?[a-z][\w-]*)", row)}
    known = {flag for option in subcommands.load("run").options for flag in option.names}
    assert len(named) >= 14 and named <= known


def test_all_shown_commands_are_valid():
    for command, _, _ in shown():
        words = shlex.split(command)
        if words[0] == "kairos":
            cli._parse(words[1:])


def test_python_blocks_of_the_manual_are_valid():
    compat.install()
    blocks = [text for kind, text in BLOCK.findall(MANUAL) if kind == "python"]
    for text in blocks:
        tree = compile(text, "docs/experiments.md", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), "docs/experiments.md", "exec"), {})
    assert len(blocks) >= 8
