"""Runs the commands of this machine's own file, each when a delivery names its job (docs/worker.md).

Nothing that travels is ever executed. A delivery chooses a command by the name of its job, and no more.
"""
