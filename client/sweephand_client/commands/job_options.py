"""The options of the commands that write fields of a job."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, NamedTuple

import typer

from sweephand_client.commands.inputs import (
    read_batch,
    read_calendar,
    read_json,
    read_labels,
    read_object,
    read_target,
)
from sweephand_client.commands.session import Session
from sweephand_client.commands.times import AHEAD, Times, read_zone
from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError

Read = Callable[[Times, str], Any]


class _Option(NamedTuple):
    """An option that writes one field. `read` makes the field's value of the text."""

    field: str
    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    read: Read = lambda _, text: text


def read_schedule(text: str) -> Any:
    """A schedule as text, or the JSON of fields by name or of a list of instants."""
    return read_json(text, "The schedule") if text.lstrip()[:1] in ("{", "[") else text


def _due(times: Times, text: str) -> str:
    return times.due(text)


_OPTIONS: Final = (
    _Option(
        "schedule",
        "When: '30 2 * * *', '@every 1h', ….",
        ("--schedule", "-s"),
        read=lambda _, text: read_schedule(text),
    ),
    _Option("timezone", "The zone of the schedule and of other times of the job.", ("--timezone", "-z")),
    _Option("dueTime", f"When it first fires: {AHEAD}.", ("--due",), read=_due),
    _Option("ttl", "When it ends, in the same forms.", read=_due),
    _Option("jitter", "Up to how much later each trigger fires, as 30s."),
    _Option(
        "calendar",
        "The calendar on whose open days it fires. On others it is skipped, or: fr/previous.",
        metavar="NAME[/OTHERWISE]",
        read=lambda _, text: read_calendar(text),
    ),
    _Option(
        "batch",
        "Many triggers each time, over a window: 50000/1h.",
        metavar="COUNT[/WINDOW]",
        read=lambda _, text: read_batch(text),
    ),
    _Option("overlap", "What a trigger does while a run is open: allow, skip, wait or waitLatest."),
    _Option(
        "catchup",
        "Which triggers fire after an outage: latest, all or none.",
        read=lambda _, text: {"mode": text},
    ),
    _Option("completion", "async: the consumer answers 202 and sends callbacks; sync: 202 is success."),
    _Option("policy", "The flow policy that limits its deliveries."),
    _Option("priority", "high, normal or low: which triggers go first."),
    _Option(
        "data",
        "What the consumer gets, as JSON, @FILE or -.",
        read=lambda _, text: read_json(text, "--data"),
    ),
    _Option("description", "A text for people."),
)

_TARGETS: Final = (
    ("url", "The endpoint that receives the triggers."),
    ("queue", "The URL of the SQS queue that receives them."),
    ("target", "Any target, as JSON, @FILE or -."),
)


def takes_fields(run: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a job's fields. It gets the fields that they write as `fields`."""
    own = [each for each in inspect.signature(run).parameters.values() if each.name != "fields"]

    def call(session: Session, **given: Any) -> None:
        mine = {each.name: given.pop(each.name) for each in own[1:]}
        run(session, **mine, fields=_written(session, given))

    parameters = [*own, *_parameters()]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__name__, call.__doc__ = run.__name__, run.__doc__
    return call


def _parameters() -> list[inspect.Parameter]:
    def parameter(name: str, kind: Any, info: Any) -> inspect.Parameter:
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, info]
        )

    panel = "Fields of the job"
    found = []
    for each in _OPTIONS:
        flags = each.flags or (f"--{each.field}",)
        info = typer.Option(*flags, help=each.help, metavar=each.metavar, rich_help_panel=panel)
        found.append(parameter(each.field, str | None, info))
    for name, text in _TARGETS:
        info = typer.Option(f"--{name}", help=text, rich_help_panel=panel)
        found.append(parameter(name, str | None, info))
    label = typer.Option("--label", help="A label, as name=value.", rich_help_panel=panel)
    found.append(parameter("label", list[str] | None, label))
    field = typer.Option(
        "--field",
        metavar="NAME=VALUE",
        help="Any other field. What is no JSON is a text: --field history=full, --field repeats=4.",
        rich_help_panel=panel,
    )
    found.append(parameter("field", list[str] | None, field))
    return found


def _written(session: Session, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the options write. A time without an offset is in the job's zone, if it is given."""
    zone = session.zone if given["timezone"] is None else read_zone(given["timezone"])
    times = Times(session.now(), zone)
    fields = {
        each.field: each.read(times, given[each.field]) for each in _OPTIONS if given[each.field] is not None
    }
    target = read_target(given["url"], given["queue"], given["target"])
    if target is not None:
        fields["target"] = target
    if given["label"]:
        fields["labels"] = read_labels(given["label"])
    return fields | dict(map(_field, given["field"] or ()))


def _field(text: str) -> tuple[str, Any]:
    """The name and the value of an option NAME=VALUE. InputError for other text."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise InputError(f"{text!r} is no field. Give name=value, as in --field repeats=4.")
    if value == "-" or value[:1] in ("@", "{", "[", '"'):
        return name, read_json(value, f"--field {name}")
    try:
        return name, exact_json.read(value)
    except ValueError:
        return name, value


def read_job(file: str | None) -> dict[str, Any]:
    """The job of an option --file; an object without fields without it."""
    return {} if file is None else read_object("-" if file == "-" else f"@{file}", "--file")
