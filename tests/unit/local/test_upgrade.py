"""Which release `make upgrade` takes, and what it leaves behind."""

from pathlib import Path

import pytest
from infra import upgrade
from infra.local.places import StackError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit."""
    monkeypatch.setattr(upgrade, "ROOT", tmp_path)
    monkeypatch.setattr(upgrade, "LOCAL", tmp_path / ".local")
    monkeypatch.setattr(upgrade, "_TREE", tmp_path / ".local" / "release")
    git("init", "--quiet")
    commit(tmp_path, "first")
    return tmp_path


def git(*words: str) -> str:
    done = upgrade._git(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(root: Path, version: str, *tags: str) -> None:
    (root / "version").write_text(version)
    git("add", "version")
    git("-c", "user.name=maintainers", "-c", "user.email=m@localhost", "commit", "-qm", version)
    for tag in tags:
        git("tag", tag)


def test_the_newest_release_of_this_commit_is_taken(root: Path) -> None:
    commit(root, "1.0.0", "v1.0.0")
    commit(root, "1.1.0", "v1.1.0", "v1")
    commit(root, "next")
    assert upgrade._newest_release() == "v1.1.0"


@pytest.mark.usefixtures("root")
def test_a_clone_without_tags_is_told_how_to_get_them() -> None:
    with pytest.raises(StackError, match="git fetch --tags"):
        upgrade._newest_release()


def test_a_release_is_checked_out_beside_this_checkout_and_removed(root: Path) -> None:
    commit(root, "1.0.0", "v1.0.0")
    commit(root, "next")
    for _ in range(2):
        with upgrade._checked_out("v1.0.0") as tree:
            assert (tree / "version").read_text() == "1.0.0"
            assert (tree / ".local").resolve() == root / ".local"
        assert not tree.exists()
        assert len(git("worktree", "list").splitlines()) == 1


def test_what_an_interrupted_run_left_is_replaced(root: Path) -> None:
    git("worktree", "add", "--quiet", "--detach", ".local/release", "HEAD")
    commit(root, "1.0.0", "v1.0.0")
    with upgrade._checked_out("v1.0.0") as tree:
        assert (tree / "version").read_text() == "1.0.0"


@pytest.mark.usefixtures("root")
def test_a_release_that_git_does_not_know_is_named() -> None:
    with pytest.raises(StackError, match=r"v9\.0\.0 cannot be checked out"), upgrade._checked_out("v9.0.0"):
        pass
