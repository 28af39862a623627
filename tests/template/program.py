"""The references in the code that goes to Lambda, as mypy resolves them: who names what.

mypy's own visitors are compiled, and no class can be derived from them. So this module walks mypy's trees by
itself.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import GetSetDescriptorType
from typing import Any, Final

from infra.local.places import ROOT
from mypy import build
from mypy.modulefinder import BuildSource
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    Expression,
    FuncDef,
    IfStmt,
    Import,
    ImportFrom,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    RefExpr,
    StrExpr,
    TypeInfo,
    Var,
)
from mypy.options import Options
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    LiteralType,
    ProperType,
    TupleType,
    TypeType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

_PACKAGE: Final = ROOT / "layers" / "sweephand" / "python"

#: Large libraries that call no AWS service.
_UNREAD: Final = ("cryptography", "holidays", "icalendar", "rich")

#: What imports a module by a text.
_IMPORTS: Final = "importlib.import_module"

#: The classes that implement a port around the adapter of another one.
_AROUND: Final = {"sweephand.ports.runs.RunStore": "sweephand.runs.flagged.FlaggedRuns"}

#: The class that has every port, and what is called with an adapter for each, by the names of its arguments.
_STORES: Final = "sweephand.runtime.stores.Stores"
_TAKING_ADAPTERS: Final = frozenset({_STORES, "sweephand.runtime.aws_stores.stores_over"})
_TABLE: Final = "sweephand.storage.table.Table"


@dataclass
class References:
    """What the body of a function, a class or a module refers to: names, client methods, and texts."""

    names: set[str] = field(default_factory=set)
    clients: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)


class Program:
    """The package and the handlers.

    Only `texts` are noted of all texts, and only `client_methods` of the methods of botocore's clients.
    """

    def __init__(self, texts: frozenset[str], client_methods: frozenset[str]) -> None:
        self.texts = texts
        self.client_methods = client_methods
        #: The references of each function, class, module and constant, by its full name.
        self.nodes: dict[str, References] = defaultdict(References)
        self._result = build.build(_sources(), _options())
        assert not self._result.errors, self._result.errors[:5]
        self.modules = {
            name: tree
            for name, tree in self._result.files.items()
            if name.partition(".")[0] in ("sweephand", "functions")
        }
        #: Each method of botocore's clients that the code calls, with where.
        self.methods: set[tuple[str, str]] = set()
        #: The modules that the code names in a text. Target types name their adapters in this way.
        self.named: set[str] = set()
        #: The types of the adapters, by the names of the ports.
        self.adapters: dict[str, list[ProperType]] = defaultdict(list)
        #: The tables that each adapter of DynamoDB is made for, by the names of what has the table.
        self.tables: dict[str, set[str]] = defaultdict(set)
        for name, tree in self.modules.items():
            if name.startswith("sweephand.runtime."):
                for each in _calls(tree):
                    self._note_adapters(each)
        for name, tree in self.modules.items():
            _Reader(self, name).read(tree)
        for node in self.nodes.values():
            if _IMPORTS in node.names:
                node.names |= self.named | {f"{each}.adapter" for each in self.named}

    @cached_property
    def classes(self) -> dict[str, TypeInfo]:
        """Every class of the package by its full name."""
        return {info.fullname: info for tree in self.modules.values() for info in _classes_of(tree)}

    def meant(self, info: TypeInfo, name: str) -> Iterator[str]:
        """The full names that an attribute of an object of that class, or of a fitting one, may have."""
        yield from _defined(info, name)
        if not info.fullname.startswith(("sweephand.", "functions.")):
            return
        for other in self._fitting(info):
            yield from _defined(other, name)

    def _fitting(self, info: TypeInfo) -> list[TypeInfo]:
        """The classes of the objects that may have a type: those that implement, derive or fit it."""
        adapters = self._ports.get(info.fullname)
        if adapters is None:
            return self._similar(info)
        around = _AROUND.get(info.fullname)
        return adapters if around is None else [*adapters, self.classes[around]]

    def _similar(self, info: TypeInfo) -> list[TypeInfo]:
        if info.fullname not in self._fits:
            members = set(info.protocol_members) if info.is_protocol else None
            self._fits[info.fullname] = [
                other
                for other in self.classes.values()
                if other is not info
                and (
                    info in other.mro
                    or (members and not other.is_protocol and all(other.get(each) for each in members))
                )
            ]
        return self._fits[info.fullname]

    @cached_property
    def _ports(self) -> dict[str, list[TypeInfo]]:
        """What implements each port in AWS. Classes may fit a port by chance, as stores do."""
        found: dict[str, list[TypeInfo]] = {}
        for owner in self.classes[_STORES].mro:
            for name, symbol in owner.names.items():
                if not isinstance(symbol.node, Var) or name not in self.adapters:
                    continue
                adapters = [info for each in self.adapters[name] for info in _entries(each)]
                concrete = [each for each in adapters if not each.is_protocol]
                for port in _entries(get_proper_type(symbol.type)):
                    found[port.fullname] = concrete or self._similar(port)
        return found

    @cached_property
    def _fits(self) -> dict[str, list[TypeInfo]]:
        return {}

    def _note_adapters(self, call: CallExpr) -> None:
        """Note the adapters that a call takes or makes. A variable with a table has the table's name."""
        called = call.callee.fullname if isinstance(call.callee, RefExpr) else ""
        for name, argument in zip(call.arg_names, call.args, strict=True):
            given = self.type_of(argument)
            if called in _TAKING_ADAPTERS and name is not None and given is not None:
                self.adapters[name].append(given)
            if called.startswith("sweephand.storage.") and any(
                each.fullname == _TABLE for each in _infos(given)
            ):
                match argument:
                    case NameExpr():
                        self.tables[called].add(f"{argument.name}_table")
                    case CallExpr(callee=MemberExpr(name=table)):
                        self.tables[called].add(table)

    def type_of(self, expression: Expression) -> ProperType | None:
        """The type of an expression, if mypy has found one."""
        found = self._result.types.get(expression)
        return None if found is None else get_proper_type(found)


class _Reader:
    """Notes what each body of a module refers to."""

    def __init__(self, program: Program, module: str) -> None:
        self._program = program
        self._module = module
        self._owners = [module]
        self._has_read: set[Node] = set()

    @property
    def _node(self) -> References:
        return self._program.nodes[self._owners[-1]]

    def read(self, o: Node) -> None:
        """Note the references in a part of the module, and in all parts of it."""
        match o:
            case FuncDef() if self._owners[-1] == self._module or self._owners[-1] in self._program.classes:
                # A function within a function belongs to the outer one.
                self._read_as(o.fullname, o)
                return
            case ClassDef():
                # The body of a class runs when its module is imported.
                self._node.names.add(o.fullname)
                self._read_as(o.fullname, o)
                return
            case AssignmentStmt(lvalues=[NameExpr(fullname=str(name))]) if (
                self._owners[-1] == self._module and name
            ):
                # What a constant of the module is made of belongs to whoever reads the constant.
                self._node.names.add(name)
                self._read_as(name, o)
                return
            case IfStmt() if any(
                isinstance(each, NameExpr) and each.name == "TYPE_CHECKING" for each in o.expr
            ):
                return  # what only the checker imports is never run
            case Import():
                self._node.names |= {name for name, _ in o.ids if name in self._program.modules}
            case ImportFrom():
                self._import(
                    {o.id, *(f"{o.id}.{name}" for name, _ in o.names)}, {name for name, _ in o.names}
                )
            case NameExpr():
                self._refer(o)
            case MemberExpr():
                self._refer(o)
                self._refer_to_attribute(o)
            case StrExpr():
                self._note(o.value)
        self._read_parts(o)

    def _read_as(self, owner: str, o: Node) -> None:
        self._owners.append(owner)
        self._read_parts(o)
        self._owners.pop()

    def _read_parts(self, o: Node) -> None:
        for each in _parts(o):
            if each not in self._has_read:  # some parts can be reached on two ways
                self._has_read.add(each)
                self.read(each)

    def _import(self, modules: set[str], names: set[str]) -> None:
        self._node.names |= {each for each in modules if each in self._program.modules}
        self._node.clients |= {each for each in names if each in self._program.client_methods}

    def _refer_to_attribute(self, o: MemberExpr) -> None:
        receiver = self._program.type_of(o.expr)
        for info in _infos(receiver):
            if info.fullname.startswith("mypy_boto3_") and info.name.endswith("Client"):
                self._node.clients |= {o.name} & self._program.client_methods
                self._program.methods.add((self._owners[-1], o.name))
            self._node.names.update(self._program.meant(info, o.name))
        if isinstance(receiver, AnyType) and o.name in self._program.client_methods:
            self._node.clients.add(o.name)

    def _refer(self, o: RefExpr) -> None:
        if isinstance(o.node, TypeInfo):
            self._node.names.add(o.node.fullname)
            # An object's special methods are called by the language.
            for each in o.node.mro:
                special = (name for name in each.names if name.startswith("__"))
                self._node.names |= {f"{each.fullname}.{name}" for name in special}
        elif o.fullname:
            self._node.names.add(o.fullname)
            if isinstance(o.node, Var) and isinstance(o.node.final_value, str):
                self._note(o.node.final_value)

    def _note(self, text: str) -> None:
        if text in self._program.modules:
            self._program.named.add(text)
        if text in self._program.texts:
            self._node.texts.add(text)


#: Attributes of mypy's nodes that lead to what a name means, and not to a part of the program's text.
_MEANINGS: Final = frozenset(
    {"analyzed", "def_", "definition", "imports", "info", "node", "original_def", "target", "var"}
)


def _parts(o: Node) -> Iterator[Node]:
    """The parts of a node. mypy's own visitors are compiled, and no class can be derived from them."""
    kind: Any = type(o)
    for name in _fields(kind):
        value = getattr(o, name, None)
        for each in value if isinstance(value, list | tuple) else (value,):
            for part in each if isinstance(each, list | tuple) else (each,):
                if isinstance(part, Node) and not isinstance(part, TypeInfo | Var):
                    yield part


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    found = {
        name: None
        for each in kind.__mro__
        for name, value in vars(each).items()
        if isinstance(value, GetSetDescriptorType) and name not in _MEANINGS and not name.startswith("_")
    }
    return tuple(found)


def _defined(info: TypeInfo, name: str) -> Iterator[str]:
    for each in info.mro:
        if name in each.names:
            yield f"{each.fullname}.{name}"
            return


def _infos(found: ProperType | None) -> Iterator[TypeInfo]:
    """The classes of the objects that have a type."""
    match found:
        case Instance():
            yield found.type
        case UnionType():
            for each in found.items:
                yield from _infos(get_proper_type(each))
        case TupleType():
            yield found.partial_fallback.type
        case LiteralType():
            yield found.fallback.type
        case TypeVarType():
            yield from _infos(get_proper_type(found.upper_bound))
        case TypeType():
            yield from _infos(found.item)
        case CallableType() if found.is_type_obj():
            yield found.type_object()
        case FunctionLike():
            yield found.fallback.type


def _calls(tree: Node) -> Iterator[CallExpr]:
    """The calls in a module."""
    waiting, seen = [tree], set[Node]()
    while waiting:
        o = waiting.pop()
        if o not in seen:
            seen.add(o)
            waiting += _parts(o)
            if isinstance(o, CallExpr):
                yield o


def _entries(found: ProperType | None) -> list[TypeInfo]:
    """The classes of the objects that have a type; of a sequence, those of its entries."""
    if isinstance(found, Instance) and found.args:
        found = get_proper_type(found.args[0])
    return list(_infos(found))


def _classes_of(tree: MypyFile) -> Iterator[TypeInfo]:
    for symbol in tree.names.values():
        if isinstance(symbol.node, TypeInfo) and symbol.node.module_name == tree.fullname:
            yield symbol.node


def _sources() -> list[BuildSource]:
    handlers = sorted((ROOT / "functions").glob("*/handler.py"))
    found = [BuildSource(str(each), f"functions.{each.parent.name}.handler") for each in handlers]
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(_PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        found.append(BuildSource(str(path), name))
    return found


def _options() -> Options:
    options: Any = Options()
    options.export_types = options.preserve_asts = True
    options.incremental = False
    options.follow_imports = "silent"
    options.ignore_missing_imports = True
    options.namespace_packages = options.explicit_package_bases = True
    options.mypy_path = [str(_PACKAGE)]
    options.python_executable = sys.executable
    options.per_module_options = {f"{each}.*": {"follow_imports": "skip"} for each in _UNREAD}
    options.build_per_module_cache()
    found: Options = options
    return found
