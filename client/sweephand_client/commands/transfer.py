"""The commands `export` and `import file`: move a namespace between stacks."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from sweephand_client.commands.inputs import read_text
from sweephand_client.commands.output import write_whole
from sweephand_client.commands.problems import exit_for
from sweephand_client.commands.session import Session, problem_value
from sweephand_client.tasks.archive import read_archive
from sweephand_client.tasks.transfer import Imported, Importer
from sweephand_client.tasks.transfer import export as export_lines

#: What became of something in an export. The count of all of them takes the words before the comma.
_WORDS: Final = {
    "written": "written",
    "exists": "left unchanged, because it exists",
    "over": "left out, because it would not fire any more",
    "refused": "refused",
}


def export(
    session: Session,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Where to write it, instead of stdout.")
    ] = None,
) -> None:
    """Write the namespace as lines of JSON: what it has but secrets and runs."""
    with session.output.progress("exporting") as bar:
        found = export_lines(session.client, session.namespace, now=session.now(), seen=bar.step)
        if file is None:
            for line in found.lines:
                typer.echo(line)
        else:
            write_whole(file, found.lines)
    for each in found.left_out:
        session.output.note(f"{each.name} is not in the export: {each.reason}.")


def import_file(
    session: Session,
    file: Annotated[str, typer.Argument(help="The lines that export wrote; - is stdin.", show_default=False)],
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Replace what exists already.")] = False,
) -> None:
    """Write an export into a namespace. What exists there stays as it is, unless you say --replace."""
    # Other line ends of Unicode, as U+2028, may stand within the texts of a line.
    archive = read_archive(read_text(file).removesuffix("\n").split("\n"))
    if session.asked_namespace is None:
        session.asked_namespace = archive.namespace
    importer = Importer(session.client, session.namespace, archive, now=session.now(), replaces=replace)
    finished: list[Imported] = []
    output = session.output
    with output.progress("importing", len(archive.jobs)) as bar:
        for each in importer.run():
            bar.step()
            finished.append(each)
            if not output.is_data and (each.notes or each.problem or each.outcome != "written"):
                output.text(_imported_text(each))
    counts = Counter(each.outcome for each in finished)
    if output.is_data:
        output.data({"results": [_imported_value(each) for each in finished], **counts})
    else:
        said = [f"{count} {_WORDS[outcome].split(',')[0]}" for outcome, count in sorted(counts.items())]
        output.text(", ".join(said) or "nothing")
    exit_for(each.problem for each in finished)


def _imported_text(each: Imported) -> str:
    text = f"{each.kind} {each.name} {_WORDS[each.outcome]}"
    if each.notes:
        text += f": {'; '.join(each.notes)}"
    return text if each.problem is None else f"{text}: {each.problem}"


def _imported_value(each: Imported) -> dict[str, Any]:
    value = {name: getattr(each, name) for name in ("kind", "name", "outcome")} | {"notes": list(each.notes)}
    return value | ({"problem": problem_value(each.problem)} if each.problem else {})
