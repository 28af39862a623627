"""Loads the modules of the Lambda functions, as Lambda does."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

#: Holds a folder for each function.
FOLDER: Final = Path(__file__).parents[2] / "functions"

#: The names of all functions.
FUNCTIONS: Final = sorted(each.parent.name for each in FOLDER.glob("*/handler.py"))


def function(name: str) -> ModuleType:
    """The module of a function's handler, loaded by its file. Each call loads it again."""
    spec = importlib.util.spec_from_file_location(f"{name}_handler", FOLDER / name / "handler.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def forget_the_environment() -> None:
    """Have the functions read their environment again, and make their clients and adapters again."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sweephand.runtime."):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()
