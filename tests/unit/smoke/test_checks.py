"""A check passes, fails or is not shown. The checks after it run in each case."""

import signal
from types import SimpleNamespace
from typing import Any, cast

import pytest
from infra.smoke import __main__ as command
from infra.smoke import checks as report
from infra.smoke import switches
from infra.smoke.checks import Check, CheckFailedError, NotShownError, Result, expect, outcomes
from infra.smoke.stage import Stage

FLIPS = (switches.FLIPPED, switches.TOKENS, switches.BACK)
EVERY = [
    *(check for lane in command.LANES for check in lane),
    *(each for suite in FLIPS for each in suite.checks),
]


def stage(*, is_local: bool) -> Stage:
    return cast("Stage", SimpleNamespace(is_local=is_local))


def passes(_: Stage) -> str:
    return "seen"


def fails(_: Stage) -> str:
    expect(False, "two came")
    return "never"


def crashes(_: Stage) -> str:
    raise KeyError("items")


CHECKS = [
    Check("crashes", "It holds.", crashes),
    Check("fails", "It holds.", fails),
    Check("aws", "It holds.", passes, not_local="no throttling here"),
    Check("passes", "It holds.", passes),
]


def test_a_check_that_fails_or_crashes_says_what_was_seen_and_the_next_goes_on() -> None:
    found = list(outcomes(CHECKS, stage(is_local=False)))
    assert [each.verdict for each in found] == ["failed", "failed", "passed", "passed"]
    assert "KeyError" in found[0].note
    assert "crashes" in found[0].note
    assert [each.note for each in found[1:]] == ["two came", "seen", "seen"]


def test_a_check_that_a_local_aws_cannot_show_is_listed_with_the_reason() -> None:
    found = list(outcomes(CHECKS, stage(is_local=True)))[2]
    assert (found.verdict, found.note) == ("not shown", "no throttling here")


def test_a_check_that_lacks_what_it_needs_is_listed_with_the_reason() -> None:
    def lacks(_: Stage) -> str:
        raise NotShownError("give --subnets")

    [found] = outcomes([Check("lacks", "It holds.", lacks)], stage(is_local=False))
    assert (found.verdict, found.note) == ("not shown", "give --subnets")


def test_expect_raises_an_error_for_a_false_condition_alone() -> None:
    expect([1], "nothing")
    with pytest.raises(CheckFailedError, match="nothing"):
        expect([], "nothing")


def test_every_check_has_a_unique_name_and_a_sentence() -> None:
    assert len({check.name for check in EVERY}) == len(EVERY)
    assert all(check.sentence[0].isupper() and check.sentence.endswith(".") for check in EVERY)


def result(verdict: Any) -> Result:
    return Result(f"a-{verdict}", "It holds.", verdict, "x " * 100, 1.23)


def test_the_exit_code_is_1_if_a_check_failed_or_something_was_left() -> None:
    passed, failed, hidden = (result(verdict) for verdict in ("passed", "failed", "not shown"))
    assert report.exit_code([passed, hidden], []) == 0
    assert report.exit_code([passed, failed], []) == 1
    assert report.exit_code([passed], ["queue x"]) == 1


def test_the_summary_counts_and_names_what_failed() -> None:
    told = report.summary([result("passed"), result("failed"), result("not shown")])
    assert told == "1 passed, 1 failed, 1 not shown: a-failed"
    assert report.summary([result("passed")]) == "1 passed, 0 failed, 0 not shown"


def test_a_row_shows_the_verdict_and_wraps_the_note() -> None:
    first, *notes = report.row(result("passed")).splitlines()
    assert first.startswith("passed")
    assert "It holds." in first
    assert len(notes) > 1
    assert all(len(line) < 130 for line in notes)


def test_ci_never_deploys_to_an_account(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert command.main([]) == 1
    assert "never run by CI" in capsys.readouterr().err
