"""The worlds that are explored whole: a model, and what happens. Those in `LARGE` take minutes."""

from typing import Final, NamedTuple

from tests.models.gates import Gates
from tests.models.joins import Joins
from tests.models.keys import Keys
from tests.models.rates import Rates
from tests.models.state import Message, World
from tests.models.switch import Switch


class Scene(NamedTuple):
    """A world, and the model whose promises hold in it."""

    world: World
    model: type[Gates] = Gates


TWO: Final = ((1, 1),)
#: Triggers go to the first of two gates, and a server of the second is called to help.
HELP: Final = (Message("baton", 1),)
FIRST: Final = frozenset({0})

SMALL: Final = {
    "one gate": Scene(World(triggers=3, time_is_up=True)),
    "one gate, three functions": Scene(World(triggers=3, functions=3, time_is_up=True)),
    "one gate, four triggers": Scene(World(triggers=4)),
    "one gate, two slots": Scene(World(triggers=3, functions=3, shares=((2,),), time_is_up=True)),
    "one gate, guards come": Scene(World(guards_come=True, time_is_up=True)),
    "one gate, a run": Scene(World(triggers=3, asynchronous=FIRST, time_is_up=True)),
    "a run without end, raise": Scene(World(shares=((1,), (2,)), asynchronous=FIRST, endless=FIRST)),
    "a run without end, two slots": Scene(
        World(triggers=3, shares=((2,),), asynchronous=FIRST, endless=FIRST)
    ),
    "two gates, stealing": Scene(World(triggers=3, shares=TWO, time_is_up=True)),
    "two gates, guards come": Scene(World(shares=TWO, guards_come=True, time_is_up=True)),
    "two gates, help": Scene(World(shares=TWO, chosen=(0,), sent=HELP, time_is_up=True)),
    "raise": Scene(World(shares=((1, 0), (1, 1)), time_is_up=True)),
    "lower": Scene(World(shares=((1, 1), (1, 0)), time_is_up=True)),
    "pause and resume": Scene(World(shares=((1,), (0,), (1,)), time_is_up=True)),
    "a job goes to another policy": Scene(World(shares=((1, 0), (0, 1)), one_policy=False, time_is_up=True)),
    "a job leaves a paused policy": Scene(World(shares=((0, 0), (0, 1)), one_policy=False, time_is_up=True)),
    "one trigger, crash": Scene(World(triggers=1, crashes=1, time_is_up=True)),
    "one trigger, a copy": Scene(World(triggers=1, copies=1, time_is_up=True)),
    "a key waits": Scene(World(guards_come=True), Keys),
    "a key with runs": Scene(World(asynchronous=FIRST, guards_come=True), Keys),
    "a paused key": Scene(World(triggers=1, shares=((1,), (0,), (1,)), guards_come=True), Keys),
    "switched off": Scene(World(guards_come=True), Switch),
    "triggers join": Scene(World(triggers=3, time_is_up=True), Joins),
    "triggers join, two gates": Scene(World(triggers=3, shares=TWO, time_is_up=True), Joins),
    "triggers join, two slots": Scene(World(triggers=3, functions=3, shares=((2,),)), Joins),
    "a rate": Scene(World(shares=((2,),), rates=((1,),)), Rates),
    "a rate, one slot": Scene(World(rates=((1,),)), Rates),
    "a rate, two gates": Scene(World(shares=TWO, rates=((1,),)), Rates),
    "a rate in two buckets": Scene(World(shares=((2,),), rates=((1, 1),), delays=1), Rates),
    "a rate is raised": Scene(World(shares=((2,), (2,)), rates=((1,), (3,)), delays=1), Rates),
    "a rate is lowered": Scene(World(shares=((2,), (2,)), rates=((3,), (1,)), delays=1), Rates),
    "a rate gets a second bucket": Scene(World(shares=((2,), (2,)), rates=((1, 0), (1, 1)), delays=1), Rates),
    "a rate loses a bucket": Scene(World(shares=((2,), (2,)), rates=((1, 1), (1, 0)), delays=1), Rates),
    "a rate, crash": Scene(World(triggers=1, shares=((2,),), rates=((1,),), crashes=1, delays=1), Rates),
}

LARGE: Final = {
    "three functions, guards come": Scene(World(functions=3, guards_come=True, time_is_up=True)),
    "a run without end, raise, three functions": Scene(
        World(functions=3, shares=((1,), (2,)), asynchronous=FIRST, endless=FIRST)
    ),
    "one gate, crash": Scene(World(crashes=1, time_is_up=True)),
    "one gate, two crashes": Scene(World(triggers=1, crashes=2, time_is_up=True)),
    "one gate, a copy": Scene(World(copies=1, time_is_up=True)),
    "one gate, run, crash": Scene(World(crashes=1, asynchronous=FIRST, time_is_up=True)),
    "three triggers, crash, guards come": Scene(World(triggers=3, crashes=1, guards_come=True)),
    "two gates, three functions": Scene(World(triggers=3, functions=3, shares=TWO)),
    "two gates, help, three functions, guards come": Scene(
        World(functions=3, shares=TWO, chosen=(0,), sent=HELP, guards_come=True)
    ),
    "two gates, one trigger, crash": Scene(World(triggers=1, shares=TWO, crashes=1, time_is_up=True)),
    "two gates, help, crash": Scene(World(shares=TWO, chosen=(0,), sent=HELP, crashes=1)),
    "lower, three triggers": Scene(World(triggers=3, shares=((1, 1), (1, 0)))),
    "raise and lower": Scene(World(shares=((1, 0), (1, 1), (1, 0)))),
    "lower and raise": Scene(World(shares=((1, 1), (1, 0), (1, 1)))),
    "lower, crash": Scene(World(triggers=1, shares=((1, 1), (1, 0)), crashes=1)),
    "raise, crash": Scene(World(triggers=1, shares=((1, 0), (1, 1)), crashes=1)),
    "a job leaves a paused policy, crash": Scene(
        World(triggers=1, shares=((0, 0), (0, 1)), crashes=1, one_policy=False)
    ),
    "breaker: open, probe, closed": Scene(World(triggers=3, shares=((2,), (0,), (1,), (2,)))),
    "a paused key, crash": Scene(World(triggers=1, shares=((0,), (1,)), crashes=1, guards_come=True), Keys),
    "a paused key, two triggers": Scene(World(shares=((0,), (1,)), guards_come=True), Keys),
    "a paused key, a copy": Scene(World(triggers=1, shares=((0,), (1,)), copies=1, guards_come=True), Keys),
    "a key is paused twice": Scene(
        World(triggers=1, shares=((0,), (1,), (0,), (1,)), guards_come=True), Keys
    ),
    "two gates switched off": Scene(World(shares=TWO, guards_come=True), Switch),
    "a resume while switched off": Scene(World(shares=((0,), (1,)), guards_come=True), Switch),
    "a raise while switched off": Scene(World(shares=((1, 0), (1, 1)), guards_come=True), Switch),
    "switched off, crash": Scene(World(triggers=1, crashes=1, guards_come=True), Switch),
    "triggers join, guards come": Scene(World(triggers=3, guards_come=True), Joins),
    "four triggers join": Scene(World(triggers=4), Joins),
    "triggers join, raise": Scene(World(triggers=3, shares=((1, 0), (1, 1))), Joins),
    "triggers join, lower": Scene(World(triggers=3, shares=((1, 1), (1, 0))), Joins),
    "triggers join, pause and resume": Scene(World(triggers=3, shares=((1,), (0,), (1,))), Joins),
    "triggers join, crash": Scene(World(crashes=1), Joins),
    "triggers join, a copy": Scene(World(copies=1), Joins),
    "triggers join, two gates, crash": Scene(World(shares=TWO, crashes=1), Joins),
    "a rate, three triggers": Scene(World(triggers=3, shares=((2,),), rates=((2,),), delays=1), Rates),
    "a rate, crash, two triggers": Scene(World(rates=((1,),), crashes=1, delays=0), Rates),
    "a rate, two gates, crash": Scene(
        World(triggers=1, shares=TWO, rates=((1,),), crashes=1, delays=1), Rates
    ),
    "a rate in two buckets, crash": Scene(
        World(triggers=1, shares=((2,),), rates=((1, 1),), crashes=1, delays=1), Rates
    ),
    "a rate is raised, three triggers": Scene(
        World(triggers=3, shares=((2,), (2,)), rates=((1,), (2,)), delays=1), Rates
    ),
    "a rate is lowered, three triggers": Scene(
        World(triggers=3, shares=((2,), (2,)), rates=((2,), (1,)), delays=1), Rates
    ),
    "a rate is raised, slow functions": Scene(World(shares=((2,), (2,)), rates=((1,), (3,))), Rates),
    "a rate is lowered, slow functions": Scene(World(shares=((2,), (2,)), rates=((3,), (1,))), Rates),
    "a rate is raised and lowered": Scene(
        World(shares=((2,), (2,), (2,)), rates=((1,), (3,), (1,)), delays=1), Rates
    ),
}
