"""What names and conditions in a method's body mean, given the local variables at that point; pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from harness.audit.code import Atom, Call, Condition, Junction, Not, Truth
from harness.audit.declared import Declared, Names, operands, operator, parts_of, simple_type, text_of

CONSTRUCTOR = "<init>"
_PARAMETERS = ("formal_parameter", "spread_parameter", "catch_formal_parameter", "resource")
_EQUALS = ("equals", "deepEquals", "containsAll")
_EMPTY = {"isEmpty": False, "isPresent": True}


@dataclass(slots=True)
class Scope:
    """The local variables at some point: their simple types, and the conditions that booleans stand for."""

    types: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, Condition] = field(default_factory=dict)

    def inner(self) -> Scope:
        """Return a scope of its own that begins with what is known here."""
        return Scope(dict(self.types), dict(self.conditions))

    def declare(self, name: str, kind: str, condition: Condition | None = None) -> None:
        """Add a variable, which may hide another."""
        self.types[name] = kind
        self.conditions.pop(name, None)
        if condition is not None:
            self.conditions[name] = condition


def is_parameter(node: Node) -> bool:
    """Whether a node declares a variable that has its value from elsewhere."""
    return node.type in _PARAMETERS


def declare(node: Node, scope: Scope) -> str:
    """Declare a parameter, a resource or what is caught; return its simple type."""
    kind = simple_type(node.child_by_field_name("type"))
    name = text_of(node.child_by_field_name("name"))
    if node.type == "spread_parameter":
        types = [each for each in parts_of(node) if each.type not in ("modifiers", "variable_declarator")]
        kind = f"{simple_type(types[0]) if types else ''}..."
        name = text_of(parts_of(node)[-1])
    scope.declare(name, kind)
    return kind


@dataclass(frozen=True, slots=True)
class Meaning:
    """Resolves names and conditions in the body of the class `inside`."""

    inside: Declared
    names: Names

    def call(self, node: Node, scope: Scope) -> Call:
        """Return what a method invocation calls."""
        receiver, named = node.child_by_field_name("object"), node.child_by_field_name("name")
        name = text_of(named)
        if receiver is None:
            owner = self.names.owner_of_method(self.inside.name, name)
        else:
            owner = self.type_of(receiver, scope)
        return self.made(owner, name, node, named or node)

    def made(self, owner: str, name: str, node: Node, at: Node) -> Call:
        """Return a call of a known class with the arguments of `node`, at the place of `at`."""
        listed = node.child_by_field_name("arguments")
        arguments = parts_of(listed) if listed else []
        constants = tuple(self.names.constant(each, self.inside.name) for each in arguments)
        return Call(owner, name, len(arguments), constants, self.inside.file.at(at))

    def field_meant(self, node: Node, scope: Scope) -> tuple[str, str] | None:
        """Return class and name of the field that an expression is, or None."""
        if node.type == "identifier":
            name = text_of(node)
            owner = "" if name in scope.types else self.names.owner_of_field(self.inside.name, name)
            return (owner, name) if owner else None
        if node.type == "field_access":
            receiver, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("field"))
            owner = self.type_of(receiver, scope) if receiver and name != "this" else ""
            return (owner, name) if owner else None
        return None

    def type_of(self, node: Node, scope: Scope) -> str:
        """Return the declared simple type of an expression; empty where it is not known."""
        match node.type:
            case "this":
                return self.inside.name
            case "super":
                return self.inside.superclass
            case "identifier" if text_of(node) in scope.types:
                return scope.types[text_of(node)]
            case "identifier":
                owner = self.names.owner_of_field(self.inside.name, text_of(node))
                return self.names.type_of_field(owner, text_of(node)) if owner else text_of(node)
            case "field_access" if text_of(node.child_by_field_name("field")) == "this":
                return text_of(node.child_by_field_name("object"))
            case "field_access":
                meant = self.field_meant(node, scope)
                return self.names.type_of_field(*meant) if meant else ""
            case "method_invocation":
                called = self.call(node, scope)
                return self.names.type_returned(called.owner, called.name)
            case "parenthesized_expression":
                return self.type_of(parts_of(node)[-1], scope)
            case "cast_expression" | "object_creation_expression":
                return simple_type(node.child_by_field_name("type"))
            case _:
                return ""

    def returned_by(self, block: Node, scope: Scope) -> Condition | None:
        """Return the condition that a method's block is: one `return` and no more; else None."""
        statements = parts_of(block)
        if len(statements) != 1 or statements[0].type != "return_statement" or not parts_of(statements[0]):
            return None
        return self.condition(parts_of(statements[0])[-1], scope)

    def condition(self, node: Node, scope: Scope) -> Condition:
        """Return the meaning of a condition."""
        match node.type:
            case "parenthesized_expression":
                return self.condition(parts_of(node)[-1], scope)
            case "true" | "false":
                return Truth(node.type == "true")
            case "identifier":
                return scope.conditions.get(text_of(node), Atom())
            case "unary_expression" if text_of(operator(node)) == "!":
                return Not(self.condition(parts_of(node)[-1], scope))
            case "method_invocation":
                call = self.call(node, scope)
                return Atom(call, exists=_EMPTY.get(call.name), equal=True if call.name in _EQUALS else None)
            case "binary_expression" if text_of(operator(node)) in ("&&", "||"):
                return self._junction(node, scope)
            case "binary_expression":
                return self._comparison(node, scope)
            case _:
                return Atom()

    def _junction(self, node: Node, scope: Scope) -> Condition:
        parts = [self.condition(part, scope) for part in operands(node)]
        joined = parts[0]
        for part in parts[1:]:
            joined = Junction(joined, part, text_of(operator(node)) == "||")
        return joined

    def _comparison(self, node: Node, scope: Scope) -> Condition:
        sign, parts = text_of(operator(node)), operands(node)
        literals = {each.type: each for each in parts if _is_constant(each)}
        others = [each for each in parts if not _is_constant(each)]
        if sign in ("==", "!=") and len(others) == 1 and literals.keys() & {"true", "false"}:
            same = ("true" in literals) == (sign == "==")
            inner = self.condition(others[0], scope)
            return inner if same else Not(inner)
        if sign in ("==", "!=") and "null_literal" in literals:
            return Atom(exists=sign == "!=")
        if _compares_size(node, parts):
            return Atom(exists=sign != "==")
        return Atom(equal=self._equality(node))

    def _equality(self, node: Node) -> bool | None:
        """Return what `a == b` or `a != b` says of equal things, where both are no constants; else None."""
        sign = text_of(operator(node))
        if sign not in ("==", "!=") or any(_is_constant(each) for each in operands(node)):
            return None
        return sign == "=="


def _is_constant(node: Node) -> bool:
    """Whether an operand is a literal or, by its capitals, a named constant."""
    name = text_of(node.child_by_field_name("field") if node.type == "field_access" else node)
    return node.type.endswith("_literal") or node.type in ("true", "false") or (name.isupper() and "(" not in name)


def _compares_size(node: Node, parts: tuple[Node, ...]) -> bool:
    """Whether a comparison is `x.size() == 0`, or its opposite with `!=` or `>`."""
    sized = text_of(parts[0].child_by_field_name("name")) if parts[0].type == "method_invocation" else ""
    return sized == "size" and text_of(parts[-1]) == "0" and text_of(operator(node)) in ("==", "!=", ">")
