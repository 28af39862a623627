"""Which stack to call: by an option, by the environment, by a local stack, or by a profile."""

import configparser
import io
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sweephand_client.http.authorization import Authorization, Bearer, IamSignature
from sweephand_client.http.errors import InputError
from sweephand_client.http.transport import checked_url, is_loopback
from sweephand_client.local_stacks import LocalStack, answering, nearby
from sweephand_client.private_files import private_text, write_private

#: The profile that is used if nothing else says which stack to call.
DEFAULT: Final = "default"

_FIELDS: Final = ("url", "key", "namespace", "auth", "region")
_PROFILE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_REGION: Final = re.compile(r"\.execute-api\.([a-z0-9-]+)\.")

_NONE_FOUND: Final = (
    "No stack is known. Start a local one with sweephand dev or make up, set SWEEPHAND_URL and "
    "SWEEPHAND_KEY, or make a profile: sweephand profile add default --url https://…"
)


@dataclass(frozen=True, slots=True)
class Stack:
    """How to reach one stack. `source` says in words where this was found.

    `auth` is `key` (also for tokens) or `iam`. `namespace` is the one that commands use by default.
    `is_implied` is true if the caller did not name the stack: it was found in a file.
    """

    url: str
    source: str
    key: str | None = None
    namespace: str | None = None
    auth: str = "key"
    region: str | None = None
    is_implied: bool = False

    def __repr__(self) -> str:
        return f"Stack({self.url!r}, {self.source!r})"

    def aws_region(self) -> str:
        """The region in which the stack is. InputError if its address does not name it."""
        found = _REGION.search(urlsplit(self.url).netloc)
        region = self.region or (found[1] if found else None)
        if region is None:
            raise InputError(f"The address {self.url} does not name its region. Give the field region.")
        return region

    def authorization(self) -> Authorization | None:
        """What proves the caller to this stack; None without a key. InputError if it cannot be made."""
        if self.auth == "iam":
            return IamSignature(self.aws_region())
        return None if self.key is None else Bearer(self.key)


def find_stack(
    *,
    profile: str | None = None,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Stack:
    """The stack to call.

    It is the first that there is of: the profile of that name; `SWEEPHAND_URL`, with `SWEEPHAND_KEY`; the
    profile that `SWEEPHAND_PROFILE` names; the local stack of the directory or of the checkout around it
    (`.local/stack.json`); the profile `default`; the only other local stack that answers.
    `SWEEPHAND_NAMESPACE` replaces the namespace that a profile names. A local stack that `SWEEPHAND_URL`
    names brings its key. Raises InputError if there is no stack, if several local ones answer, and for a
    profile or file that cannot be used.
    """
    environment = os.environ if environment is None else environment
    found = _find(profile, environment, Path.cwd() if directory is None else directory)
    namespace = environment.get("SWEEPHAND_NAMESPACE") or found.namespace
    return replace(found, namespace=namespace)


def _find(profile: str | None, environment: Mapping[str, str], directory: Path) -> Stack:
    if profile is not None:
        return _profile(profile, environment)
    if url := environment.get("SWEEPHAND_URL"):
        return Stack(
            checked_url(url),
            "SWEEPHAND_URL",
            environment.get("SWEEPHAND_KEY") or _key_of(checked_url(url), environment, directory),
            auth=_checked_auth(environment.get("SWEEPHAND_AUTH"), "SWEEPHAND_AUTH"),
            region=environment.get("SWEEPHAND_REGION"),
        )
    if named := environment.get("SWEEPHAND_PROFILE"):
        return _profile(named, environment)
    if (local := nearby(directory)) is not None:
        return _local(local)
    if DEFAULT in read_profiles(environment):
        return replace(_profile(DEFAULT, environment), is_implied=True)
    others = answering(devs_path(environment), directory)
    if len(others) == 1:
        return _local(others[0])
    if others:
        listed = ", ".join(f"{each.url} ({each.source})" for each in others)
        raise InputError(
            f"Several local stacks answer: {listed}. Choose one: export SWEEPHAND_URL={others[0].url}"
        )
    raise InputError(_NONE_FOUND)


def other_local_stacks(url: str, environment: Mapping[str, str], directory: Path) -> list[LocalStack]:
    """The local stacks that answer at other addresses than `url`. Empty if `url` is not on this machine."""
    if not is_loopback(urlsplit(url).hostname or ""):
        return []
    return [each for each in answering(devs_path(environment), directory) if each.url != url]


def _local(found: LocalStack) -> Stack:
    return Stack(found.url, found.source, found.key, is_implied=True)


def _key_of(url: str, environment: Mapping[str, str], directory: Path) -> str | None:
    """The key of the local stack that is described with this address; None for any other one."""
    if not is_loopback(urlsplit(url).hostname or ""):
        return None
    described = answering(devs_path(environment), directory)
    return next((each.key for each in described if each.url == url), None)


def devs_path(environment: Mapping[str, str]) -> Path:
    """The folder, beside the profiles, in which each `sweephand dev` that runs is described."""
    return profiles_path(environment).parent / "dev"


def profiles_path(environment: Mapping[str, str]) -> Path:
    """The file of the profiles: `SWEEPHAND_CONFIG`, or `sweephand/config` in the user's configuration."""
    if given := environment.get("SWEEPHAND_CONFIG"):
        return Path(given)
    home = environment.get("XDG_CONFIG_HOME")
    folder = Path(home) if home else Path(environment.get("HOME", "~")).expanduser() / ".config"
    return folder / "sweephand" / "config"


def read_profiles(environment: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The fields of each profile, by its name. Without a file there are none.

    Raises InputError for a file that others own or may read, since it holds keys, and for one that is no
    INI file.
    """
    path = profiles_path(environment)
    if not path.exists():
        return {}
    parser = _parser()
    try:
        parser.read_string(private_text(path))
    except (configparser.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    found = {name: dict(parser[name]) for name in parser.sections()}
    for name, fields in found.items():
        for field in fields.keys() - set(_FIELDS):
            raise InputError(f"{path}: the profile {name} has a field {field}. Give {', '.join(_FIELDS)}.")
    return found


def check_profile(name: str, url: str) -> None:
    """Check what a profile is to have.

    Raises InputError for a name that is not 1 to 64 of A-Z a-z 0-9 _ . - and for an address that no key may
    be sent to.
    """
    if not _PROFILE.fullmatch(name):
        raise InputError(f"{name!r} is no name of a profile. Give 1 to 64 of A-Z a-z 0-9 _ . -")
    checked_url(url)


def write_profile(environment: Mapping[str, str], name: str, fields: Mapping[str, str]) -> Path:
    """Write a profile in place of the one with that name, and return the path of the file.

    Only the user may read the file. Others never see a part of it. InputError as of check_profile().
    """
    check_profile(name, fields["url"])
    profiles = read_profiles(environment) | {name: dict(fields)}
    return _write_profiles(environment, profiles)


def remove_profile(environment: Mapping[str, str], name: str) -> Path:
    """Remove a profile, and return the path of the file. InputError if there is none of that name."""
    profiles = read_profiles(environment)
    if profiles.pop(name, None) is None:
        raise _no_profile(environment, name, profiles)
    return _write_profiles(environment, profiles)


def _write_profiles(environment: Mapping[str, str], profiles: Mapping[str, Mapping[str, str]]) -> Path:
    parser = _parser()
    parser.read_dict(profiles)
    path, text = profiles_path(environment), io.StringIO()
    parser.write(text)
    write_private(path, text.getvalue())
    return path


def _profile(name: str, environment: Mapping[str, str]) -> Stack:
    profiles = read_profiles(environment)
    if name not in profiles:
        raise _no_profile(environment, name, profiles)
    fields = profiles[name]
    if "url" not in fields:
        raise InputError(f"The profile {name} has no url. Give the ApiUrl of the stack.")
    auth = _checked_auth(fields.get("auth"), f"The field auth of the profile {name}")
    return Stack(
        checked_url(fields["url"]),
        f"the profile {name}",
        fields.get("key"),
        fields.get("namespace"),
        auth,
        fields.get("region"),
    )


def _checked_auth(auth: str | None, what: str) -> str:
    if auth not in (None, "key", "iam"):
        raise InputError(f"{what} is {auth!r}. Give key (also for a token) or iam.")
    return auth or "key"


def _no_profile(environment: Mapping[str, str], name: str, profiles: Mapping[str, object]) -> InputError:
    known = ", ".join(sorted(profiles)) or "none"
    return InputError(f"There is no profile {name} in {profiles_path(environment)}. There are: {known}.")


def _parser() -> configparser.ConfigParser:
    # A key may contain a percent sign, and no section is the default of others.
    return configparser.ConfigParser(interpolation=None, default_section="\0")
