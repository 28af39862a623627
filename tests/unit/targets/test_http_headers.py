"""Placeholders: which ones a target may have, where, and what each attempt puts in their place."""

import pytest
from tests.fakes.targets import HTTP, pointers

from sweephand.model.job import JobKey
from sweephand.model.trigger import BatchPlace, Trigger
from sweephand.targets.http_headers import filled, placeholder_problem

NOON = 1_795_262_400_000
TRIGGER = Trigger(
    JobKey("ns", "job"), "u" * 16, "1-a", NOON, 7, NOON, index=4_711, batch=BatchPlace(50_000, 60_000, 5_653)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/mails/{{index}}", "/mails/4711"),
        ("/{{index}}/{{index}}?try={{attempt}}", "/4711/4711?try=3"),
        ("?due={{due}}", "?due=2026-11-21T12:00:00.000Z"),
        ("/plain/{index}/{ {index} }", "/plain/{index}/{ {index} }"),
        ("/{{unknown}}", "/{{unknown}}"),
        ("{{{index}}}", "{4711}"),
        ("", ""),
    ],
)
def test_placeholders_are_replaced_and_nothing_else_is(text: str, expected: str) -> None:
    assert filled(text, TRIGGER, 3) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{{index}}",
        "{{due}}-{{attempt}}",
        "{index}",
        "{{{index}}}",
        "{{{due}}{",
        '{"a": {"b": 1}}',
        "?filter=%7B%22a%22:%7B%22b%22:1%7D%7D",
        "{%20}",
    ],
)
def test_known_placeholders_and_other_braces_are_accepted(text: str) -> None:
    assert placeholder_problem(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{indx}}", "There is no placeholder {{indx}}. Did you mean index?"),
        ("{{}}", "There is no placeholder {{}}."),
        ("{{ index }}", "There is no placeholder {{ index }}. Did you mean index?"),
        ("{{index}}{{sequence}}", "There is no placeholder {{sequence}}."),
    ],
)
def test_an_unknown_placeholder_is_refused_with_those_that_there_are(text: str, said: str) -> None:
    problem = placeholder_problem(text)
    assert problem is not None
    assert problem.startswith(said)
    assert problem.endswith("The placeholders are: {{attempt}}, {{due}}, {{index}}.")


@pytest.mark.parametrize(
    ("text", "found", "meant"),
    [
        ("/%7B%7Bindex%7D%7D", "%7B%7Bindex%7D%7D", "index"),
        ("/%7b%7Bdue%7D%7d", "%7b%7Bdue%7D%7d", "due"),
        ("/{{index}}/%7B%7B%20attempt%20%7D%7D", "%7B%7B%20attempt%20%7D%7D", "attempt"),
        ("/{{index", "{{", "index"),
        ("/{{index}", "{{", "index"),
        ("/index}}", "index}}", "index"),
        ("/{attempt}}", "{attempt}}", "attempt"),
        ("{{due}}-{{", "{{", "index"),
        ("%7B{due}}", "%7B{due}}", "due"),
    ],
)
def test_what_is_left_of_a_placeholder_is_refused_with_the_way_to_write_it(
    text: str, found: str, meant: str
) -> None:
    problem = placeholder_problem(text)
    assert problem is not None
    assert problem.startswith(
        f"{found} is no placeholder. Write it as {{{{{meant}}}}}, without spaces and not "
    )


@pytest.mark.parametrize("text", ["/%7B%7Bindex%7D%7D", "/{{", "/}}", "/{{index}}}}"])
def test_a_stored_target_with_a_leftover_is_sent_as_it_was_written(text: str) -> None:
    assert filled(text, TRIGGER, 3) == text.replace("{{index}}", "4711")


@pytest.mark.parametrize(
    ("target", "at"),
    [
        ({"url": "https://example.com/{{indx}}"}, ["/target/url"]),
        ({"url": "https://example.com/?q={{now}}"}, ["/target/url"]),
        ({"url": "https://{{index}}.example.com/"}, ["/target/url"]),
        ({"url": "https://example.com:{{index}}/"}, ["/target/url"]),
        ({"url": "https://example.com/%7B%7Bindex%7D%7D"}, ["/target/url"]),
        ({"headers": {"x-mail": "{{indx}}"}}, ["/target/headers/x-mail"]),
        ({"headers": {"x-mail": "{{index}"}}, ["/target/headers/x-mail"]),
        ({"headers": {"x-mail": "{{index}} of {{due}}"}}, []),
        ({"url": "https://example.com/{{index}}?due={{due}}&try={{attempt}}"}, []),
    ],
)
def test_a_target_has_placeholders_in_path_query_and_header_values_only(
    target: dict[str, object], at: list[str]
) -> None:
    assert pointers(HTTP | target) == at
