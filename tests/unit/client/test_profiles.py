"""Which stack the command line calls, and what it does with files that hold keys."""

import contextlib
import json
from pathlib import Path

import pytest
from tests.unit.client.conftest import CommandLine

from sweephand_client.http.authorization import Bearer, IamSignature
from sweephand_client.http.errors import InputError
from sweephand_client.profiles import find_stack, profiles_path, read_profiles, remove_profile, write_profile

URL = "https://a1b2.execute-api.eu-west-1.amazonaws.com"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"SWEEPHAND_CONFIG": str(tmp_path / "folder" / "config")}


def local_stack(directory: Path, url: str = "http://127.0.0.1:4700/api") -> Path:
    """A directory below the root of a checkout with the file of a local stack."""
    (directory / ".git").mkdir()
    describe(directory, url)
    below = directory / "docs" / "deeper"
    below.mkdir(parents=True)
    return below


def describe(directory: Path, url: str = "http://127.0.0.1:4700/api") -> Path:
    """The file of a local stack in the directory, which only its owner may read."""
    path = directory / ".local" / "stack.json"
    path.parent.mkdir()
    path.touch(mode=0o600)
    path.write_text(json.dumps({"apiUrl": url, "apiKey": "sh_local"}), encoding="utf-8")
    return path


def test_the_nearest_way_of_naming_a_stack_wins(tmp_path: Path, environment: dict[str, str]) -> None:
    write_profile(environment, "default", {"url": "https://default.example"})
    write_profile(environment, "named", {"url": "https://named.example"})
    below = local_stack(tmp_path)
    found = []
    for variables, profile in (
        ({}, None),
        ({"SWEEPHAND_PROFILE": "named"}, None),
        ({"SWEEPHAND_PROFILE": "named", "SWEEPHAND_URL": "https://variable.example"}, None),
        ({"SWEEPHAND_URL": "https://variable.example"}, "default"),
    ):
        stack = find_stack(profile=profile, environment={**environment, **variables}, directory=below)
        found.append(stack.url)

    assert found == [
        "http://127.0.0.1:4700/api",
        "https://named.example",
        "https://variable.example",
        "https://default.example",
    ]
    assert find_stack(environment=environment, directory=tmp_path.parent).url == "https://default.example"


def test_without_any_stack_the_message_says_how_to_name_one(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with pytest.raises(InputError, match=r"make up.*SWEEPHAND_URL.*profile add"):
        find_stack(environment=environment, directory=tmp_path)


def test_a_local_stack_brings_its_key(tmp_path: Path, environment: dict[str, str]) -> None:
    stack = find_stack(environment=environment, directory=local_stack(tmp_path))
    assert stack.authorization() == Bearer("sh_local")


def test_a_file_of_a_local_stack_leads_to_no_other_machine(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with pytest.raises(InputError, match="not on this machine"):
        find_stack(environment=environment, directory=local_stack(tmp_path, "https://evil.example"))


def test_a_file_of_another_user_names_no_stack(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_profile(environment, "default", {"url": URL, "key": "sh_mine"})
    below = local_stack(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: tmp_path.stat().st_uid + 1)
    for directory, file in ((below, "stack.json"), (tmp_path.parent, "config")):
        with pytest.raises(InputError, match=rf"/{file} is not your file.* SWEEPHAND_URL"):
            find_stack(environment=environment, directory=directory)


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620, 0o602])
def test_a_file_of_a_local_stack_that_others_may_use_is_refused(
    tmp_path: Path, environment: dict[str, str], mode: int
) -> None:
    below = local_stack(tmp_path)
    path = tmp_path / ".local" / "stack.json"
    path.chmod(mode)
    with pytest.raises(InputError, match=f"chmod 600 {path}"):
        find_stack(environment=environment, directory=below)


@pytest.mark.parametrize("is_file", [False, True], ids=["checkout", "worktree"])
def test_no_local_stack_is_looked_for_above_the_checkout(
    tmp_path: Path, environment: dict[str, str], *, is_file: bool
) -> None:
    write_profile(environment, "default", {"url": URL})
    local_stack(tmp_path)
    inner = tmp_path / "docs"
    mark = inner / ".git"
    mark.touch() if is_file else mark.mkdir()
    for directory in (inner, inner / "deeper"):
        assert find_stack(environment=environment, directory=directory).url == URL
    describe(inner, "http://127.0.0.1:4800/api")
    for directory in (inner, inner / "deeper"):
        assert find_stack(environment=environment, directory=directory).url == "http://127.0.0.1:4800/api"


def test_outside_of_a_checkout_only_the_directory_itself_has_a_local_stack(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    write_profile(environment, "default", {"url": URL})
    describe(tmp_path)
    (tmp_path / "mine").mkdir()
    assert find_stack(environment=environment, directory=tmp_path).url == "http://127.0.0.1:4700/api"
    assert find_stack(environment=environment, directory=tmp_path / "mine").url == URL


def test_a_profile_comes_back_as_it_was_written(environment: dict[str, str]) -> None:
    fields = {"url": URL, "key": "sh_a_%(b)s;#=\u00fc", "namespace": "billing"}
    write_profile(environment, "production", fields)
    write_profile(environment, "other", {"url": URL})

    assert read_profiles(environment) == {"production": fields, "other": {"url": URL}}
    remove_profile(environment, "other")
    assert read_profiles(environment) == {"production": fields}
    with pytest.raises(InputError, match=r"There is no profile other .* There are: production"):
        remove_profile(environment, "other")


def test_only_the_user_may_read_the_profiles(environment: dict[str, str]) -> None:
    path = write_profile(environment, "production", {"url": URL, "key": "sh_key"})
    assert path.stat().st_mode & 0o777 == 0o600

    path.chmod(0o640)
    with pytest.raises(InputError, match=f"chmod 600 {path}"):
        read_profiles(environment)


@pytest.mark.parametrize("text", ["url = x", "[a]\nnothing\n", "[a]\nurl = x\nkeys = y\n"])
def test_a_file_that_is_wrong_is_named(environment: dict[str, str], text: str) -> None:
    path = Path(environment["SWEEPHAND_CONFIG"])
    path.parent.mkdir()
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InputError, match=str(path)):
        read_profiles(environment)


@pytest.mark.parametrize("fields", [{"url": "http://example.com"}, {"url": URL, "auth": "magic"}])
def test_a_profile_that_cannot_be_used_is_refused(
    environment: dict[str, str], fields: dict[str, str]
) -> None:
    with pytest.raises(InputError):
        write_profile(environment, "a b", {"url": URL})
    with pytest.raises(InputError, match=r"https|Give key .* or iam"):
        _write_and_find(environment, fields)


def _write_and_find(environment: dict[str, str], fields: dict[str, str]) -> None:
    write_profile(environment, "wrong", fields)
    find_stack(profile="wrong", environment=environment)


def test_the_region_of_signatures_is_that_of_the_address(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    write_profile(environment, "signed", {"url": URL, "auth": "iam"})
    write_profile(environment, "own", {"url": "https://jobs.example.com", "auth": "iam"})

    signature = find_stack(profile="signed", environment=environment).authorization()
    assert isinstance(signature, IamSignature)
    sent = signature.headers("GET", f"{URL}/v1/me", {}, None)
    assert "/eu-west-1/execute-api/aws4_request" in sent["Authorization"]
    with pytest.raises(InputError, match="region"):
        find_stack(profile="own", environment=environment).authorization()


def test_another_way_to_prove_the_caller_is_refused() -> None:
    environment = {"SWEEPHAND_URL": URL, "SWEEPHAND_AUTH": "jwt"}
    with pytest.raises(InputError, match="SWEEPHAND_AUTH is 'jwt'"):
        find_stack(environment=environment)


def test_the_profiles_lie_where_programs_keep_their_configuration() -> None:
    assert profiles_path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/sweephand/config")
    assert profiles_path({"HOME": "/home/ann"}) == Path("/home/ann/.config/sweephand/config")


def test_a_key_is_not_in_the_representation_of_a_stack() -> None:
    environment = {"SWEEPHAND_URL": URL, "SWEEPHAND_KEY": "sh_secret"}
    assert "sh_secret" not in repr(find_stack(environment=environment))


# ---- the commands


def test_a_profile_is_written_with_a_key_from_stdin_and_used(sweephand: CommandLine) -> None:
    sweephand.ok("job", "schedule", "nightly", "-s", "30 2 * * *", "--url", URL)
    nothing = {"SWEEPHAND_URL": None, "SWEEPHAND_KEY": None, "SWEEPHAND_NAMESPACE": None}
    added = ("profile", "add", "local", "--url", sweephand.server.url, "--default-namespace", "ns")
    sweephand.ok(*added, given="sh_reader\n", **nothing)

    assert "nightly" in sweephand.ok("job", "list", "--profile", "local", **nothing).out
    assert "nightly" in sweephand.ok("job", "list", SWEEPHAND_PROFILE="local", **nothing).out
    assert "sh_reader" not in sweephand.ok("profile", "list", "--json").out
    assert sweephand.run(*added, given="", **nothing).code == 2
    sweephand.ok("profile", "remove", "local")
    assert sweephand.run("job", "list", "-p", "local").code == 2


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [("bad y", "https://a.example", "is no name of a profile"), ("good", "http://example.com", "https")],
)
def test_a_wrong_name_or_address_is_told_before_a_key_is_asked_for(
    sweephand: CommandLine, name: str, url: str, said: str
) -> None:
    refused = sweephand.run("profile", "add", name, "--url", url, given="")
    assert (refused.code, said in refused.err) == (2, True)


def test_a_person_is_told_which_stack_a_file_has_chosen(sweephand: CommandLine) -> None:
    unnamed = {"SWEEPHAND_URL": None, "SWEEPHAND_KEY": None}
    url = sweephand.server.url
    sweephand.ok("profile", "add", "default", "--url", url, given="sh_admin")
    assert sweephand.ok("job", "list", **unnamed).err == f"The stack is {url}, by the profile default.\n"

    path = sweephand.home / ".local" / "stack.json"
    path.parent.mkdir()
    path.touch(mode=0o600)
    path.write_text(json.dumps({"apiUrl": url, "apiKey": "sh_admin"}), encoding="utf-8")
    with contextlib.chdir(sweephand.home):
        shown = sweephand.ok("job", "list", **unnamed)
        as_json = sweephand.ok("job", "list", "--json", **unnamed)
        named = sweephand.ok("job", "list", "--profile", "default", **unnamed)
    assert shown.err == f"The stack is {url}, by the local stack of {path}.\n"
    assert (as_json.err, named.err, sweephand.ok("job", "list").err) == ("", "", "")
