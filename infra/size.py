"""Counts lines of code, modules and imports inside functions of each part, and the words of the docs.

    make size

A line of code is one that is not blank, not a comment and not part of a docstring. A test holds the
ceilings. Whoever raises a ceiling writes the reason beside it.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from infra.local.places import ROOT

#: The folders of each part. A module counts in the last part that has it.
PARTS: Final = {
    "package": ("layers/sweephand/python/sweephand", "functions"),
    "client": ("client/sweephand_client",),
    "generated": ("client/sweephand_client/openapi",),
    "receive": ("client/sweephand_client/receive",),
    "worker": ("client/sweephand_client/worker",),
    "deploy": ("client/sweephand_deploy",),
    "engine": ("client/sweephand_engine",),
    "infra": ("infra",),
    "tests": ("tests",),
}

#: The pages of the documentation.
PAGES: Final = ("README.md", "SECURITY.md", "CHANGELOG.md", "docs", "tests/README.md", "client/README.md")

_WITH_DOCSTRING: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Size(NamedTuple):
    """The size of a module or of a part."""

    lines: int
    modules: int
    inner_imports: int


#: No part is larger than this.
CEILINGS: Final = {
    # Policies that pause take 160 lines, limits for each key 420, slots that are taken at once 270, and
    # breakers 300. What is sent to consumers is described once, for the adapters and for OpenAPI: 240.
    # Trace contexts and labels travel from a request to each attempt, through 30 modules: 200.
    # Due times and explanations name the days that a calendar moves or skips, and why: 310.
    # Pauses that end by themselves take 290, in the wheel, the API, the audit and explanations.
    # Calendars take 1,590: days and moves of schedules 560, jobs and their following 530, the API 500. The
    # library of holidays is imported only when a calendar is written.
    # Windows take 746: what they are, their routes and fields, the gate, and what explains them. A process
    # remembers their openings in 15 of these lines, since cron took up to 18 ms for each trigger.
    # What makes jobs follow a calendar is imported when a calendar changes: it takes 30 ms of a start.
    # A watch that looks again at what windows held takes 85.
    # EventBridge Scheduler's API takes 1,025 in 15 modules: bodies, errors, lists and groups 590, schedules
    # as jobs 325, which the client's import had before, and data alone for targets of AWS 110.
    # What templates of CloudFormation declare takes 330: a function, its answers, its calls, and its fields.
    # An iCalendar text that would keep the API busy is refused before the libraries read its rules: 95.
    # The end of old signing secrets takes 21. The health of jobs, and failing jobs by it, take 172.
    # What a run keeps of its attempts takes 100. Redrives and cancellations of many runs by filters take 133.
    # The overview takes 282, with what is late and what waits.
    # A job that cannot follow its calendar comes again alone: 25. Writes of windows are tried again: 15.
    # The deletion of a calendar is bounded: 15. Limits of calendars are listed: 20.
    # A clock that steps back: 4.
    # Lists that ask all partitions at once take 56, and an audit that reads many jobs at once 55.
    # Columns become tuples, and series are stored by columns: 17. A sweep reads ahead: 20.
    # One thread waits for the triggers of a call, and asks for others only as they are needed: 12.
    # The headers of answers are read here, and counts are added without pynamodb, for a tenth of a delivery's
    # CPU time: 44. Models of requests are built when they are used: 14.
    # The console is sent without its comments: 1. Its editor is joined apart: 29.
    # What a job shows of a revision that it has forgotten: 3.
    # How windows change and release: 20. Days up to the year 9999: 40. Bounds of calendars and windows: 25.
    # Raw data for queues and unknown fields of null: 17. Changes of a deleted job among others: 3.
    # Days of a calendar are counted by cycles of weeks: 27. Batches of an earlier schedule are rebuilt: 3.
    # Audits look behind gaps in a chain of timers: 30. Data alone has no names of a delivery: 22. Null for an
    # unknown field of an object: 15. Runs that are given up: 5. What tests alone needed has left: 57.
    # A turn, a breaker, a give-back, a write of a policy and a token that meet something meanwhile: 50.
    # What is held takes another slot of a limit: 8. Slots after callbacks: 10.
    # Conditions in a bulk write: 29. What ends in time on slow tables and queues, and does not multiply: 18.
    # An explanation under a policy that lets nothing through: 4.
    "package": Size(lines=36_973, modules=343, inner_imports=34),
    # `sweephand dev` takes 45 lines. `sweephand deploy` and `sweephand destroy` take 95, `sweephand docs` 20,
    # and the schema of a file of jobs 70.
    # `sweephand rehearse` takes 85, and the lines in the errors of a file of jobs 30.
    # The callbacks of a consumer take 30, and jobs that a program declares 30.
    # The command `worker` takes 100, and the commands of a crontab 50. YAML is read in a module of its own.
    # Schedules of EventBridge take 630: what reads and disables them 145, their jobs 115, the move 150, and
    # report, files and options 190. Their client takes 40.
    # Calendars take 300: calls 55, commands 120, and their place in a file of jobs and in exports 125.
    # A dry run that the stack judges, with the lines of the fields that it refuses, takes 50.
    # The end of a pause takes 30: an option, two calls, and an export that has it.
    # `sweephand check` takes 25.
    # The commands and calls about windows take 100.
    # A move that goes on where a namespace is refused, and past starts, take 36. A plan that hides the values
    # of headers takes 29, and a dry run that excuses only refusals for days 20.
    # Settings, policies and windows in a file of jobs take 270, in modules of their own with calendars: what
    # they are and what of them means the same, the steps of an apply, and its dry run.
    # Who owns a job takes 130.
    # Times as people write them take 75, and results as YAML, CSV or names 60. Patches, options of a job's
    # fields, and those of all namespaces, of a zone and of a watch take 225. Names are completed, types are
    # named in words, and a command imports only its own module: 115.
    # Who owns a job takes 130. The end of old signing secrets takes 6.
    # Failing jobs take 25. Filters of many runs take 80. The overview takes 34.
    # An example of each command takes 85, and local stacks on other ports 80. The attempts of a run take 60,
    # tables that fit 50, patches of many jobs 70, and what an overview may count 35. Singulars of counts: 2.
    # A full disk, a character that the locale lacks, an unknown key, and words for types in each help: 30.
    # What writes of `apply` expect: 11. Notes on days, and TLS that breaks: 15.
    "client": Size(lines=7_533, modules=75, inner_imports=0),
    # What `make client-types` writes and nobody maintains. It grows with the API.
    # Calendars take 95. Calls about them and about policies have modules of their own.
    # The end of a pause takes 10, and the format of targets of AWS 10. Settings are a module of their own.
    # The health of a job takes 7, and attempts 7. Many runs take 17, the overview 32. Conditions take 4.
    "generated": Size(lines=1_117, modules=10, inner_imports=0),
    # What receives deliveries in an application: verified, once, in four frameworks, with four stores.
    # Claims that end with a process or its lease, secrets while the stack is down, and heartbeats: 90.
    # Parts of secrets at a cut: 20.
    # The worker uses what reads the time of a heartbeat.
    "receive": Size(lines=815, modules=12, inner_imports=0),
    # What runs the commands of a machine. A queue and HTTP take 205, heartbeats 125, and the file of commands
    # 155. Processes, their users, groups and locks take 220, the work of a run 180, and what is in hand 150.
    # Whose file it is, where outputs are cut, and locks that were cleaned away: 16.
    "worker": Size(lines=1_117, modules=12, inner_imports=0),
    # What SAM's command line does for this template, and a deletion that says what is lost.
    "deploy": Size(lines=615, modules=10, inner_imports=0),
    # The clients of DynamoDB and SQS in memory are 680 of these lines. The tests use them too.
    # Its threads are a module of their own, since simulated time has none.
    # What its server shows is a module of its own, since the local stack shows an inbox alone.
    # Simulated time and the plugin of pytest take 980 lines. The plugin imports them when a test uses it.
    # Prices, quotas and the models of SQS and Lambda take 640 lines, once in `infra`.
    # A rehearsal takes 1,280: it plays what the package decides, finds what is worth telling, and tells it.
    # It checks a file alone, too: 5. By no calendar that the file lacks: 25. With its settings: 11.
    # Messages are handled ten in a call: 3. One statement is a transaction of its own: 1.
    # After a write of the store failed, no request succeeds, and its answer says why: 11.
    # A store that is damaged is refused: a module that reads SQLite's log, and checksums of rows: 91.
    # It is described for other commands: 7. Tests keep their loop and see late answers as such: 17.
    "engine": Size(lines=4_802, modules=49, inner_imports=1),
    # `make client-types` takes 220 lines. It replaces 350 handwritten ones of the client.
    # Lateness under a policy and the cost of keys are measured, too. `make dev` and its bench take 200 lines.
    # Tests in simulated time are measured in 75 lines. `make dist` and the environment of a wheel take 90.
    # The site of the documentation takes 520 lines, of which the reference of the API is a third.
    # A rehearsal is measured, too: 25. One more module of types takes 6.
    # The local stack serves templates, too: 1.
    # The shell of Chromium, and options of the Java that runs DynamoDB Local: 2.
    # Other schedulers beside Sweephand take 1,342 in 26 modules: scenarios, faults and the judge 470, the
    # page with its results 185, EventBridge 115, and four schedulers with their workers and clients 570.
    # Lists and audits of many jobs, and a noisy namespace, are measured: 197 in three modules.
    # Calls that fail and functions that are killed on a local stack: bursts 125, kills 65, load 215, verdict
    # 75, the run 130, and a consumer that fails attempts and closes connections.
    # The first paint of the console: 61.
    # An upgrade under load: 101, and 18 for what it shares with the faults. A call without an answer: 4.
    # Paths of layers that ministack does not resolve: 3.
    # Twenty tasks of an operator take 940 in nine modules: the tasks 500, the command with its table 130,
    # their scenes 105, and what performs them 205.
    "infra": Size(lines=9_067, modules=127, inner_imports=1),
    # The models of gates take 1,620 lines in 15 modules. The oracle asks who ended a function: 20 lines.
    # Triggers that join an entry or go together into one take 320 lines, most of them in the models.
    # Pauses, keys, slots that are taken at once and breakers are simulated: 3,050 lines.
    # Simulated time and the plugin of pytest have 870 lines of tests. The wheel is tested alone: 80 lines.
    # An account in memory, and what deploys to it: 740. The consumer of deployed tests came from infra: 120.
    # So did the aims of cost and of herds, which were rows of pages: 15.
    # The site, and the questions that its search answers: 220.
    # Generated clients, webhooks and the schema of a file of jobs are compared with the code: 310.
    # Rehearsals, and their comparison with the engine: 540.
    # Sentences and paragraphs of pages are measured as those of docstrings are: 40. Ceilings count words: 6.
    # Trace contexts and labels are followed from each request to each target: 620.
    # Examples in three ways send the same requests, and are tabs on the site: 110.
    # Receivers in four frameworks, with four stores: 760. Their examples, served to both kinds of stack: 250.
    # Their claims, secrets and heartbeats in trouble: 485.
    # Samples of the long proofs, and their marks: 90.
    # The worker, with real processes, and a crontab that moves while a worker is killed: 1,260.
    # Moves from EventBridge, with an oracle of its expressions, kills at each step and throttling: 1,170.
    # Calendars in commands, files of jobs, exports and rehearsals: 190. Moved and skipped days in lists,
    # explanations, forecasts and the console: 460.
    # Pauses that end by themselves, by hand and in worlds: 540.
    # Calendars, compared with two other libraries and a day-by-day enumeration: 920. In simulated worlds,
    # with an oracle of their own, mutations, and what else a job may be meanwhile: 1,040.
    # The action for GitHub, run in bash against a stack, and the check before a commit: 290.
    # Windows take 805, of which their simulation is 330.
    # The tests of the move from EventBridge stand in two files, by what a run finds: 20 for imports.
    # A day that fires more than 24 times, and a calendar that changes: 20.
    # Times as people write them, and what else makes the command line quick to use: 230.
    # What a dry run hides and foresees, in a module of its own, and what a check and the action do: 175.
    # Moves from EventBridge that are refused in part, that resume jobs, or whose start has passed: 135.
    # The modules of the flow function are bounded, too: 2. Retries that a window has held before: 10.
    # The openings that a process knows are compared with those that are computed: 50.
    # Watches of jobs with windows, in tests and in simulated worlds with an oracle: 153.
    # EventBridge Scheduler's API, by boto3's client, foreign tests, a function and hostile bodies: 1,015.
    # Resources of templates: answers 125, killed and refused requests 355, fields 95, deployed stacks 150,
    # and the page with its construct of CDK 60.
    # Costly iCalendar texts: 85. Jobs that cannot follow, deletions, and windows at once: 75.
    # Which Chromium shows pages, and the group of the tests on DynamoDB Local: 37, in two modules.
    # What stands beside the jobs of a file: 240. Who owns them: 190. All or nothing: 85.
    # The end of old signing secrets: 68. The health of jobs, in two modules: 310.
    # The attempts that a run keeps: 102. Many runs, redriven and cancelled: 97. The overview: 246.
    # Every order of small worlds: an engine, a world whose calls are steps, and scenarios: 665.
    # The shootout takes 170 in five modules, with a real run of the harness.
    # Clocks that step, and chains in circles, in simulated worlds: 252, in two modules.
    # Requests of lists and audits of many jobs are counted: 189.
    # Reads ahead, and all fields of a series in a pack: 18.
    # Messages that are taken together, and the threads that they need: 23.
    # The heads of answers, compared with http.client: 60.
    # A store on a full disk, at every write: 97, in a module.
    # A store on a full disk, cut and damaged, at every byte that matters: 246, in a module.
    # The parts of a run with faults on a local stack: 121, in three modules.
    # Charts of the console: 133, in a module. Batches that go on: 66. Four numbers: 228, in a module.
    # The runs beside a run: 60. Attempts, changes field by field and one zone in the console: 300.
    # The form of a job, compared with the fields of the API, and its inputs: 409, in two modules.
    # Attempts, patches, examples and local stacks of the command line, and the counts of tasks: 465.
    # Which release an upgrade takes, and what it leaves behind: 50. A smoke check without an answer: 7.
    # Jobs and failures in the console: 477, in two modules more.
    # The console's bar, windows, secrets, keys, keys of policies, settings, and what a phone reaches: 670.
    # All jobs of a filter, failures by their answers, the next jobs, and what dialogs name: 135.
    # A simulated audit loses no timer that it cannot judge: 2. Two tests take half of the screens: 7.
    # What CI samples by folder and module: 22. Crashes counted anew, late slots, and
    # runs that end before their job comes back: 53.
    # An update or pause that meets a delivery: 39. A resume without a record: 50. A forgotten revision: 28.
    # A watch in a pause: 11. Windows, bounds, calendars, files of jobs, and what the oracle allows: 436.
    # A clock that goes back during an update, a deleted job in an explanation, batches in a pause, and a
    # first time far ahead: 74. Old windows, batches of an earlier schedule, and what the oracle allows: 62.
    # A layer that two functions extract at once: 26.
    # Audits behind gaps, in a module: 78. One-offs with calendars in simulated worlds: 35. Asynchronous runs
    # that are given up: 50. Forged names, nulls, previews, windows, and the ends of the command line: 180.
    # Helpers that modules had alike are one: -220.
    # What meets flow policies meanwhile, and slots after callbacks, in a module: 165. What meets a worker,
    # its receivers and the client: 95.
    # Conditions in a bulk write: 60. Slow tables and queues: 190. The console: 190. Tests of users: 50.
    "tests": Size(lines=105_860, modules=899, inner_imports=1),
}


#: All pages together have no more words than this, so that somebody can read them in a few hours.
#: Measurements beside other schedulers take 3,850, most of them cells of tables, and their decision 205.
#: The pages about runs and jobs that fail take 500. The console takes 1,200: its calls for jobs 230, its
#: counts of late and waiting triggers 150, charts 130, other screens 690. Twenty tasks of an operator take
#: 480. The newest parts of the command line take 210. How an upgrade is shown: 45. What saves steps in the
#: console takes 205. What an audit cannot tell: 36. What CI samples: 16. What leaves late
#: under a limit, and when crashes are counted anew: 47. What an update or a pause meets: 46.
#: What has changed since 1.0.0: 520. What AWS keeps of keys, tables and functions: 50. From when on the
#: days of a calendar apply, and conditions in a bulk write: 85.
WORDS_MAX: Final = 67_760


def size_of(source: str) -> Size:
    """The size of one module."""
    tree = ast.parse(source)
    numbers = {
        number
        for number, line in enumerate(source.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            numbers.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return Size(lines=len(numbers), modules=1, inner_imports=len(set(_inner_imports(tree))))


def _inner_imports(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom))


def measured() -> dict[str, Size]:
    """The size of each part of this checkout."""
    parts = {path: part for part, folders in PARTS.items() for path in _files(folders, ".py")}
    found = dict.fromkeys(PARTS, Size(0, 0, 0))
    for path, part in parts.items():
        pairs = zip(found[part], size_of(path.read_text(encoding="utf-8")), strict=True)
        found[part] = Size(*(sum(pair) for pair in pairs))
    return found


def pages() -> list[Path]:
    """All pages, decisions too."""
    return list(_files(PAGES, ".md"))


def words() -> int:
    """The words of all pages."""
    return sum(len(path.read_text(encoding="utf-8").split()) for path in pages())


def _files(places: Iterable[str], suffix: str) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from [path] if path.is_file() else sorted(path.rglob(f"*{suffix}"))


def main() -> None:
    """Print a row for each part, with its ceiling behind each count."""
    print(f"{'part':<10}{'lines of code':>20}{'modules':>14}{'inner imports':>16}")
    for part, size in measured().items():
        lines, modules, imports = (
            f"{count:,} of {most:,}" for count, most in zip(size, CEILINGS[part], strict=True)
        )
        print(f"{part:<10}{lines:>20}{modules:>14}{imports:>16}")
    print(f"{'docs':<10}{f'{words():,} words':>20}")


if __name__ == "__main__":
    main()
