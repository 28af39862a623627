"""The command that runs a whole Sweephand in this process."""

import gc
import os
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from sweephand_client.commands.session import BAD_INPUT, UNREACHABLE
from sweephand_client.local_stacks import describing
from sweephand_client.profiles import devs_path

#: Not imported by a statement: what the engine needs is in the extra `dev`.
_ENGINE = "sweephand_engine.dev"

PORT_DEFAULT = 4780


def dev(
    *,
    port: Annotated[
        int, typer.Option(help="The port on 127.0.0.1. 0 stands for any free one.")
    ] = PORT_DEFAULT,
    store: Annotated[
        Path | None,
        typer.Option(help="The file that keeps the state. Without it, the state ends with the process."),
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open the console in a browser, signed in.")] = False,
    allow_outbound: Annotated[
        bool, typer.Option("--allow-outbound", help="Deliver to addresses outside of this machine, too.")
    ] = False,
) -> None:
    """Run a whole Sweephand in this process: API, console, deliveries and an inbox for them.

    HTTP targets are reached on this machine. What AWS would have got arrives in the inbox.
    """
    # Importing makes many objects and no garbage.
    gc.disable()
    try:
        engine: Any = import_module(_ENGINE)
    except ModuleNotFoundError as error:
        _end(
            f"`sweephand dev` needs packages that are not installed, such as {error.name}. "
            "Install them: pip install 'sweephand[dev]'",
            BAD_INPUT,
        )
    finally:
        gc.enable()
    code = 0
    try:
        engine.run(
            port=port,
            store=store,
            opens=opens,
            allow_outbound=allow_outbound,
            say=typer.echo,
            describing=partial(describing, devs_path(os.environ)),
        )
    except (engine.StartError, engine.StoreFileError) as error:
        _end(str(error), BAD_INPUT)
    except engine.StoppedError as error:
        typer.echo(str(error), err=True)
        code = UNREACHABLE
    except BrokenPipeError:
        # The reader of a pipe has gone, as `head` does. The buffer of stdout could not be written either.
        os._exit(0)
    # A slow consumer may hold a thread for a minute, and Python would wait for the thread.
    sys.stdout.flush()
    os._exit(code)


def _end(sentence: str, code: int) -> NoReturn:
    typer.echo(sentence, err=True)
    raise typer.Exit(code)
