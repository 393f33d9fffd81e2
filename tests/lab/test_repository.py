"""Scans of a repository: only what has changed is examined, and what cannot be keeps its former entry."""

import asyncio
import shutil
import subprocess

import pytest

from kairos.errors import UsageError
from kairos.experiment.store import DatasetStore
from kairos.lab.repository import GitSource
from tests.support.laboratory import Laboratory
from tests.support.waiting import until

ONE = """
from artiq.experiment import *
from helpers.names import NAME


class One(EnvExperiment):
    __doc__ = NAME

    def build(self):
        self.setattr_argument("x", StringValue(NAME))

    def run(self):
        self.set_dataset("name", NAME, broadcast=True)
"""


@pytest.fixture
def repository(lab):
    folder = lab.folder / "repository"
    (folder / "helpers").mkdir()
    (folder / "helpers" / "__init__.py").touch()
    (folder / "helpers" / "names.py").write_text('NAME = "First"\n')
    (folder / "scans").mkdir()
    (folder / "scans" / "one.py").write_text(ONE)
    lab.scan()
    assert names(lab) == ["scans/First"]
    return folder


def names(lab) -> list[str]:
    return sorted(name for name in lab.experiments()["experiments"] if "/" in name)


def test_file_is_examined_again_if_a_file_that_it_imports_changes(lab, repository):
    assert names(lab) == ["scans/First"]
    (repository / "helpers" / "names.py").write_text('NAME = "Second"\n')
    lab.scan()
    assert names(lab) == ["scans/Second"]
    rid = lab.submit({"file": "scans/one.py", "class_name": "One", "repo_rev": None})
    assert lab.ends(rid)["status"] == "completed" and lab.datasets()["name"][1] == "Second"
    (repository / "scans" / "one.py").unlink()
    lab.scan()
    assert names(lab) == []


@pytest.mark.parametrize(
    "text, problem",
    [
        ("1 / 0\n", "ZeroDivisionError"),
        pytest.param("class\n", "SyntaxError", marks=pytest.mark.long),
        pytest.param("import sys\nsys.exit(3)\n", "sys.exit(3)", marks=pytest.mark.long),
        ("import os\nos._exit(3)\n", "exit code 3"),
    ],
)
def test_file_that_fails_keeps_its_former_entry_with_a_reason(lab, repository, text, problem):
    (repository / "scans" / "one.py").write_text(text)
    lab.scan()
    assert names(lab) == ["scans/First"]
    problems = lab.experiments()["problems"]
    assert list(problems) == ["scans/one.py"] and problem in problems["scans/one.py"]
    lab.kill()
    lab.start()
    until(lambda: names(lab))
    assert list(lab.experiments()["problems"]) == ["scans/one.py"], "it is known after a restart"
    (repository / "scans" / "one.py").write_text(ONE)
    lab.scan()
    assert lab.experiments()["problems"] == {}


IMPATIENT = """
import sys
from kairos.lab import repository
from kairos.lab.__main__ import main

repository.EXAMINE = 1.0
sys.exit(main(sys.argv[1]))
"""


def test_file_that_is_slow_keeps_its_former_entry_and_holds_up_no_other(tmp_path):
    lab = Laboratory(tmp_path).start(("-c", IMPATIENT))
    folder = tmp_path / "repository"
    try:
        until(lambda: "Quick scan" in lab.experiments()["experiments"])
        (folder / "other.py").write_text((folder / "lab.py").read_text().replace("Quick scan", "Another"))
        (folder / "lab.py").write_text("import time\ntime.sleep(600)\n")
        lab.scan()
        found = lab.experiments()
        assert {"Quick scan", "Another"} < found["experiments"].keys()
        assert found["problems"] == {"lab.py": "it was not examined within 1 s"}
        (folder / "lab.py").write_text((folder / "other.py").read_text())
        lab.scan()
        assert lab.experiments()["problems"] == {}
    finally:
        lab.close()


def test_file_that_lacks_another_is_examined_once_that_is_there(lab, repository):
    (repository / "helpers" / "names.py").rename(repository / "names.txt")
    lab.scan()
    assert "No module named" in lab.experiments()["problems"]["scans/one.py"]
    (repository / "names.txt").rename(repository / "helpers" / "names.py")
    lab.scan()
    assert lab.experiments()["problems"] == {} and names(lab) == ["scans/First"]


def git(path, *words) -> str:
    command = ["git", "-C", path, "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_commits_of_git_are_run_as_they_were(tmp_path):
    lab = Laboratory(tmp_path, "git = true\n")
    folder = tmp_path / "repository"
    (folder / "lab.py").write_text(ONE.replace("from helpers.names import NAME", 'NAME = "First"'))
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "One\n\nof two")
    first = git(folder, "rev-parse", "HEAD")
    lab.start()
    try:
        until(lambda: "First" in lab.experiments()["experiments"])
        (folder / "lab.py").write_text("raise RuntimeError\n")
        git(folder, "commit", "-aqm", "Two")
        expid = {"file": "lab.py", "class_name": "One"}
        rid = lab.submit({**expid, "repo_rev": None}, held="")
        assert lab.queue()[0]["repo_msg"] == "One\n\nof two" and lab.queue()[0]["expid"]["repo_rev"] == first
        lab.scan()
        assert lab.experiments()["problems"]["lab.py"].startswith("the experiment raised an exception")
        lab.kill()
        lab.start()
        until(lambda: lab.queue())
        lab.release(rid)
        record = lab.ends(rid)
        assert (record["status"], record["repo_rev"]) == ("completed", first)
        again = lab.ends(lab.submit({**expid, "repo_rev": "HEAD~1"}))
        assert (again["status"], again["repo_rev"]) == ("completed", first)
        assert lab.ends(lab.repeat(rid))["repo_rev"] == first
        with pytest.raises(UsageError, match="none is no commit of"):
            lab.submit({**expid, "repo_rev": "none"})
        exports = [path.name for path in (tmp_path / ".kairos" / "exports").iterdir()]
        assert len(exports) <= 2, "commits that are not needed are deleted"
    finally:
        lab.close()


def test_commit_is_written_out_with_its_submodules_or_without_those_that_are_not_there(tmp_path, caplog):
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    for folder in (inner, outer):
        folder.mkdir()
        git(folder, "init", "-q")
        (folder / "a.py").write_text(folder.name)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "One")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib dir/sub")
    git(outer, "commit", "-q", "-m", "Two")
    git(inner, "commit", "-q", "--allow-empty", "-m", "not that of the commit")

    def written(number) -> list[str]:
        folder = asyncio.run(_tree(GitSource(outer, tmp_path / str(number))))
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py"))

    assert written(1) == ["a.py", "lib dir/sub/a.py"]
    shutil.rmtree(outer / "lib dir")  # as in a repository that is bare, or has another branch checked out
    assert written(2) == ["a.py", "lib dir/sub/a.py"]
    shutil.rmtree(outer / ".git" / "modules")
    assert written(3) == ["a.py"] and "the submodule lib dir/sub of" in caplog.text


def test_commit_is_written_out_as_checked_out_and_not_deleted_while_it_is_used(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "filter.upper.smudge", "tr a-z A-Z; seq 100000 >&2")
    (root / ".gitattributes").write_text("table.csv export-ignore\n*.txt filter=upper\n")
    for name in ("table.csv", "a.txt"):
        (root / name).write_text("text")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "One")
    commit = git(root, "rev-parse", "HEAD")
    source = GitSource(root, tmp_path / "exports")

    async def work():
        writing = asyncio.ensure_future(source.tree(commit))
        while not writing.done():
            source.keep(set())
            await asyncio.sleep(0)
        async with source.using(commit) as folder:
            source.keep(set())
            assert [(folder / name).read_text() for name in ("table.csv", "a.txt")] == ["text", "TEXT"]
            assert (await writing) == folder
        source.keep({commit})
        assert folder.exists()
        source.keep(set())
        assert not any((tmp_path / "exports").iterdir())

    asyncio.run(work())


def test_revision_of_the_settings_is_the_current_commit(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "-q")
    for number in range(2):
        (root / "a.py").write_text(f"# {number}\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", str(number))
    git(root, "branch", "stable", "HEAD~1")

    def text(revision):
        source = GitSource(root, tmp_path / "exports", revision)
        return asyncio.run(source.text(asyncio.run(source.current()), "a.py"))[0]

    assert [text(revision) for revision in ("HEAD", "stable")] == ["# 1\n", "# 0\n"]
    with pytest.raises(UsageError, match="has no revision none, which lab.toml names"):
        text("none")


def test_folder_of_a_larger_repository_is_exported_alone_and_outlives_its_commit(tmp_path):
    whole, inner = tmp_path / "whole", tmp_path / "inner"
    lab = Laboratory(tmp_path, "git = true\nrepository = 'whole/a b/experiments'\n")
    folder = whole / "a b" / "experiments"
    folder.mkdir(parents=True)
    inner.mkdir()
    (inner / "names.py").write_text('NAME = "First"\n')
    for path in (inner, whole):
        (path / "other.py").touch()
        git(path, "init", "-q")
        git(path, "add", ".")
        git(path, "commit", "-q", "-m", "Zero")
    git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "a b/experiments/helpers")
    (folder / "one.py").write_text(ONE)
    git(whole, "add", ".")
    git(whole, "commit", "-qm", "One")
    first = git(whole, "rev-parse", "HEAD")
    lab.start()
    try:
        until(lambda: lab.experiments()["experiments"].get("First", {}).get("file") == "one.py")
        (export,) = (tmp_path / ".kairos" / "exports").iterdir()
        assert sorted(path.name for path in export.iterdir()) == ["helpers", "one.py"]
        (folder / "one.py").write_text(ONE.replace("class One", "class Two"))
        git(whole, "commit", "-qam", "Two")
        expid = {"file": "one.py", "repo_rev": git(whole, "rev-parse", "HEAD")}
        rid = lab.submit({**expid, "class_name": "Two"}, held="")
        # As after a force-push: the commit is gone.
        git(whole, "reset", "-q", "--hard", first)
        git(whole, "reflog", "expire", "--expire=now", "--all")
        git(whole, "gc", "-q", "--prune=now")
        with pytest.raises(UsageError, match="is no commit of"):
            lab.submit(expid)
        lab.kill()
        lab.start()
        lab.release(rid)
        record = lab.ends(rid)
        assert (record["status"], record["repo_rev"]) == ("completed", expid["repo_rev"]), record["error"]
        assert lab.datasets()["name"][1] == "First"
        with pytest.raises(UsageError, match="has no folder a b/experiments"):
            lab.submit({"file": "one.py", "repo_rev": "HEAD~1"})
    finally:
        lab.close()


async def _tree(source: GitSource):
    return await source.tree(await source.current())


FOLLOWS = """
from artiq.experiment import *


class Follows(EnvExperiment):
    def build(self):
        self.setattr_argument("f", NumberValue(self.get_dataset("f0", 1e6), unit="MHz"))
"""
NEEDS = FOLLOWS.replace('"f0", 1e6', '"f1"').replace("Follows", "Needs")


def test_default_follows_the_parameter_that_its_experiment_has_read(lab):
    (lab.folder / "repository" / "follows.py").write_text(FOLLOWS)
    (lab.folder / "repository" / "needs.py").write_text(NEEDS)
    lab.scan()

    def default(name):
        return lab.experiments()["experiments"].get(name, {}).get("arginfo", {}).get("f", ({},))[0].get("default")

    assert default("Follows") == 1e6 and "needs.py" in lab.experiments()["problems"]
    lab.set_dataset("f0", 2e6, True)
    lab.set_dataset("f1", 5e6, True)
    until(lambda: (default("Follows"), default("Needs")) == (2e6, 5e6))
    until(lambda: lab.experiments()["problems"] == {})
    # What has changed while no laboratory was there is found by the next one.
    lab.end()
    DatasetStore(lab.folder / "dataset_db.mdb").set("f0", 3e6, True)
    lab.start()
    until(lambda: default("Follows") == 3e6)
