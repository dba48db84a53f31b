"""The first reading of Java: which classes there are, and what names in them stand for; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from harness.audit.code import Field
from harness.base.text import cut, visible
from harness.model.runs import Evidence

TYPES = ("class_declaration", "interface_declaration", "enum_declaration", "record_declaration")
METHODS = ("method_declaration", "constructor_declaration", "compact_constructor_declaration")
_EMPTY_LISTS = ("Collections.emptyList()", "List.of()")
_BODIES = ("enum_body_declarations",)
_MOST_EXCERPT = 200
_MOST_TEXT = 10_000  # characters of a constant or of a line that is looked at
_MOST_STEPS = 20  # outwards or upwards from a class


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One parsed file: its path relative to the source tree, its lines, and the root of its syntax tree."""

    path: str
    lines: tuple[str, ...]
    root: Node

    def at(self, node: Node) -> Evidence:
        """Return the place where a node begins."""
        row = node.start_point.row
        text = self.lines[row][:_MOST_TEXT].strip() if row < len(self.lines) else ""
        return Evidence(self.path, row + 1, visible(cut(text, _MOST_EXCERPT)))


@dataclass(frozen=True, slots=True)
class Declared:
    """A class as it is declared; `returns` has each method's type, empty where overloads differ.

    `values` are the initial values of its static final fields. `outer` is the enclosing class, empty at the top.
    """

    name: str
    outer: str
    superclass: str
    node: Node
    file: SourceFile
    fields: Mapping[str, Field]
    returns: Mapping[str, str]
    values: Mapping[str, Node]


@dataclass(frozen=True, slots=True)
class Names:
    """All classes by simple name; two classes of one name are unknown, since the name does not say which is meant."""

    classes: Mapping[str, Declared] = field(default_factory=dict)
    _values: dict[tuple[str, str], str | None] = field(default_factory=dict)  # constants that were worked out before

    def owner_of_field(self, inside: str, name: str) -> str:
        """Return the class whose field a bare name means inside a class; empty when it means none."""
        return next((each.name for each in self._scopes(inside) if name in each.fields), "")

    def owner_of_method(self, inside: str, name: str) -> str:
        """Return the class whose method a bare name means inside a class; empty when it means none."""
        return next((each.name for each in self._scopes(inside) if name in each.returns), "")

    def type_of_field(self, owner: str, name: str) -> str:
        """Return the simple type of a class's own or inherited field; empty when it is unknown."""
        return next((each.fields[name].type for each in self._line(owner) if name in each.fields), "")

    def type_returned(self, owner: str, name: str) -> str:
        """Return the simple type that a class's own or inherited method returns; empty when it is unknown."""
        return next((each.returns[name] for each in self._line(owner) if name in each.returns), "")

    def constant(self, node: Node, inside: str) -> str | None:
        """Return an expression's value as text when it is constant, else None; see `code.Call.constants`."""
        match node.type:
            case "string_literal":
                return "".join(text_of(part) for part in parts_of(node))
            case "true" | "false":
                return node.type
            case "decimal_integer_literal":
                return text_of(node).replace("_", "").rstrip("lL")
            case "parenthesized_expression":
                return self.constant(parts_of(node)[0], inside)
            case "binary_expression" if text_of(operator(node)) == "+":
                return self._joined(operands(node), inside)
            case "method_invocation" if text_of(node) in _EMPTY_LISTS:
                return "[]"
            case "identifier":
                return self._named(self.owner_of_field(inside, text_of(node)), text_of(node))
            case "field_access":
                owner, name = node.child_by_field_name("object"), node.child_by_field_name("field")
                return self._named(text_of(owner).rpartition(".")[2], text_of(name))
            case _:
                return None

    def _joined(self, parts: tuple[Node, ...], inside: str) -> str | None:
        values = [self.constant(part, inside) for part in parts]
        if not any(value and not value.isdigit() for value in values):  # no text: a sum
            return None
        text = "".join("{}" if value is None else value for value in values)
        return text if len(text) <= _MOST_TEXT else None

    def _named(self, owner: str, name: str) -> str | None:
        if (owner, name) not in self._values:
            self._values[owner, name] = None  # for a constant that is made from itself
            value = self.classes[owner].values.get(name) if owner in self.classes else None
            self._values[owner, name] = self.constant(value, owner) if value is not None else None
        return self._values[owner, name]

    def _scopes(self, inside: str) -> Iterator[Declared]:
        """Give the classes in which a bare name is looked up: the class, what it inherits, then the enclosing one."""
        for _ in range(_MOST_STEPS):
            if inside not in self.classes:
                return
            yield from self._line(inside)
            inside = self.classes[inside].outer

    def _line(self, name: str) -> Iterator[Declared]:
        for _ in range(_MOST_STEPS):
            if name not in self.classes:
                return
            yield self.classes[name]
            name = self.classes[name].superclass


def names_in(files: tuple[SourceFile, ...]) -> Names:
    """Return what the files declare."""
    return Names({name: same[0] for name, same in _by_name(files).items() if len(same) == 1})


def words_of_twins(files: tuple[SourceFile, ...]) -> dict[str, frozenset[str]]:
    """Return, by each name that several classes share, every name that stands in them."""
    twins = {name: same for name, same in _by_name(files).items() if len(same) > 1}
    return {name: frozenset(word for each in same for word in _words(each.node)) for name, same in twins.items()}


def _by_name(files: tuple[SourceFile, ...]) -> dict[str, list[Declared]]:
    found: dict[str, list[Declared]] = {}
    for file in files:
        for each in _declared(file.root, "", file):
            found.setdefault(each.name, []).append(each)
    return found


def _words(node: Node) -> Iterator[str]:
    todo = [node]
    while todo:
        each = todo.pop()
        todo += each.named_children
        if each.type in ("identifier", "type_identifier"):
            yield text_of(each)


def members_of(node: Node) -> Iterator[Node]:
    """Give the members of a class, those of an enum after its constants."""
    body = node.child_by_field_name("body")
    for member in parts_of(body) if body else ():
        if member.type in _BODIES:
            yield from parts_of(member)
        else:
            yield member


def parts_of(node: Node) -> list[Node]:
    """Return a node's named parts without the comments, which may stand between any two words of Java."""
    return [each for each in node.named_children if not each.type.endswith("comment")]


def text_of(node: Node | None) -> str:
    """Return a node's text; empty for no node."""
    return node.text.decode("utf-8", "replace") if node and node.text else ""


def operator(node: Node) -> Node | None:
    """Return the operator of an expression."""
    return node.child_by_field_name("operator")


def operands(node: Node) -> tuple[Node, ...]:
    """Return the operands of a binary expression; of a chain such as `a + b + c` all of them, however long it is."""
    sign, parts = text_of(operator(node)), list[Node]()
    while node.type == "binary_expression" and text_of(operator(node)) == sign:
        parts.append(_field(node, "right"))
        node = _field(node, "left")
    return (node, *reversed(parts))


def simple_type(node: Node | None) -> str:
    """Return a type without its package, outer class and arguments: `List` for `java.util.List<String>`."""
    match node.type if node else "":
        case "generic_type":
            return simple_type(parts_of(node)[0]) if node else ""
        case "scoped_type_identifier" | "annotated_type":
            return simple_type(parts_of(node)[-1]) if node else ""
        case "array_type":
            return f"{simple_type(node.child_by_field_name('element'))}[]" if node else ""
        case _:
            return text_of(node)


def modifiers_of(node: Node) -> frozenset[str]:
    """Return a declaration's modifiers, without annotations."""
    found = next((child for child in parts_of(node) if child.type == "modifiers"), None)
    return frozenset(child.type for child in found.children if not child.is_named) if found else frozenset()


def _field(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None, f"Java's grammar gives every {node.type} a {name}"
    return found


def _declared(node: Node, outer: str, file: SourceFile) -> Iterator[Declared]:
    for child in members_of(node) if node.type in TYPES else parts_of(node):
        if child.type in TYPES:
            made = _class(child, outer, file)
            yield made
            yield from _declared(child, made.name, file)


def _class(node: Node, outer: str, file: SourceFile) -> Declared:
    superclass = node.child_by_field_name("superclass")
    fields, values = _fields(node, file)
    return Declared(
        name=text_of(node.child_by_field_name("name")),
        outer=outer,
        superclass=simple_type(parts_of(superclass)[0]) if superclass else "",
        node=node,
        file=file,
        fields=fields,
        returns=_returns(node),
        values=values,
    )


def _fields(node: Node, file: SourceFile) -> tuple[dict[str, Field], dict[str, Node]]:
    fields, values = dict[str, Field](), dict[str, Node]()
    for member in members_of(node):
        if member.type not in ("field_declaration", "constant_declaration"):
            continue
        modifiers, kind = modifiers_of(member), simple_type(member.child_by_field_name("type"))
        for declarator in member.children_by_field_name("declarator"):
            name, value = text_of(declarator.child_by_field_name("name")), declarator.child_by_field_name("value")
            fields[name] = Field(name, kind, modifiers, file.at(declarator))
            if value and (modifiers >= {"static", "final"} or member.type == "constant_declaration"):
                values[name] = value
    return fields, values


def _returns(node: Node) -> dict[str, str]:
    found: dict[str, str] = {}
    for member in members_of(node):
        if member.type == "method_declaration":
            name, kind = text_of(member.child_by_field_name("name")), simple_type(member.child_by_field_name("type"))
            found[name] = kind if found.get(name, kind) == kind else ""
    return found
