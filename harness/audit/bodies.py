"""The second reading of Java: what each method does, as a tree of steps; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from harness.audit.code import (
    NOTHING,
    Access,
    Atom,
    Breakable,
    Call,
    Condition,
    Deferred,
    Exit,
    If,
    JavaClass,
    Junction,
    Loop,
    Method,
    Not,
    Step,
    Truth,
    Try,
    sequence,
)
from harness.audit.declared import (
    METHODS,
    TYPES,
    Declared,
    Names,
    members_of,
    modifiers_of,
    operands,
    operator,
    simple_type,
    text_of,
)

CONSTRUCTOR = "<init>"
_EXITS = {
    "return_statement": Exit.RETURNS,
    "throw_statement": Exit.THROWS,
    "break_statement": Exit.BREAKS,
    "continue_statement": Exit.BREAKS,
    "yield_statement": Exit.BREAKS,
}
_REPEATED = ("while_statement", "do_statement", "for_statement")
_SCOPED = ("block", "constructor_body", "switch_block_statement_group", "switch_rule")
_PARAMETERS = ("formal_parameter", "spread_parameter", "catch_formal_parameter", "resource")
_EQUALS = ("equals", "deepEquals", "containsAll")
_EMPTY = {"isEmpty": False, "isPresent": True}
_CHANGES = ("add", "addAll", "clear", "remove", "removeAll", "replaceAll", "retainAll", "set")  # of what a field holds


@dataclass(slots=True)
class _Scope:
    """The local variables at some point: their simple types, and the conditions that booleans stand for."""

    types: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, Condition] = field(default_factory=dict)

    def inner(self) -> _Scope:
        return _Scope(dict(self.types), dict(self.conditions))

    def declare(self, name: str, kind: str, condition: Condition | None = None) -> None:
        self.types[name] = kind
        self.conditions.pop(name, None)
        if condition is not None:
            self.conditions[name] = condition


def class_of(declared: Declared, names: Names) -> JavaClass:
    """Return a class with the bodies of its methods."""
    members = list(members_of(declared.node))
    initial = _Body(declared, names)
    fields = [each for each in members if each.type in ("field_declaration", "constant_declaration")]
    blocks = [each for each in members if each.type in ("static_initializer", "block")]
    return JavaClass(
        name=declared.name,
        superclass=declared.superclass,
        fields=declared.fields,
        methods=tuple(_method(each, declared, names) for each in members if each.type in METHODS),
        initial=sequence(*(initial.step(each, _Scope()) for each in (*fields, *blocks))),
        at=declared.file.at(declared.node),
    )


def _method(node: Node, declared: Declared, names: Names) -> Method:
    body, scope = _Body(declared, names), _Scope()
    listed = node.child_by_field_name("parameters") or declared.node.child_by_field_name("parameters")
    parameters = tuple(
        _declare(each, scope) for each in (listed.named_children if listed else ()) if _is_parameter(each)
    )
    block = node.child_by_field_name("body")
    steps = body.step(block, scope) if block else NOTHING
    returns = node.child_by_field_name("type")
    return Method(
        owner=declared.name,
        name=text_of(node.child_by_field_name("name")) if returns else CONSTRUCTOR,
        parameters=parameters,
        returns=simple_type(returns),
        modifiers=modifiers_of(node),
        body=steps,
        tells=body.told(block, scope) if block else None,
        at=declared.file.at(node.child_by_field_name("name") or node),
    )


def _is_parameter(node: Node) -> bool:
    return node.type in _PARAMETERS


def _declare(node: Node, scope: _Scope) -> str:
    """Declare a parameter, a resource or what is caught; return its simple type."""
    kind = simple_type(node.child_by_field_name("type"))
    name = text_of(node.child_by_field_name("name"))
    if node.type == "spread_parameter":
        types = [each for each in node.named_children if each.type not in ("modifiers", "variable_declarator")]
        kind = f"{simple_type(types[0]) if types else ''}..."
        name = text_of(node.named_children[-1])
    scope.declare(name, kind)
    return kind


class _Body:
    """Translates what stands in the body of a class."""

    def __init__(self, inside: Declared, names: Names) -> None:
        self._inside = inside
        self._names = names
        self._special: dict[str, Callable[[Node, _Scope], Step]] = {
            "local_variable_declaration": self._local,
            "field_declaration": self._field,
            "constant_declaration": self._field,
            "if_statement": self._if,
            "ternary_expression": self._if,
            "enhanced_for_statement": self._for_each,
            "switch_expression": self._switch,
            "try_statement": self._try,
            "try_with_resources_statement": self._try,
            "assert_statement": self._assert,
            "labeled_statement": self._labeled,
            "binary_expression": self._binary,
            "lambda_expression": self._lambda,
            "method_reference": self._reference,
            "method_invocation": self._call,
            "object_creation_expression": self._new,
            "explicit_constructor_invocation": self._other_constructor,
            "assignment_expression": self._assignment,
            "update_expression": self._update,
            "identifier": self._read,
            "field_access": self._read_of,
            "resource": self._resource,
        }

    def step(self, node: Node, scope: _Scope) -> Step:
        """Return what a statement or an expression does, in the order in which Java evaluates it."""
        if node.type in self._special:
            return self._special[node.type](node, scope)
        if node.type in _EXITS:
            return sequence(
                self._all(node.named_children if node.type != "break_statement" else (), scope), _EXITS[node.type]
            )
        if node.type in TYPES or node.type.endswith(("_type", "_type_identifier", "type_identifier")):
            return NOTHING
        if node.type in _REPEATED:
            return self._repeated(node, scope.inner())
        return self._all(node.named_children, scope.inner() if node.type in _SCOPED else scope)

    def _all(self, nodes: Iterable[Node | None], scope: _Scope) -> Step:
        return sequence(*(self.step(node, scope) for node in nodes if node))

    def _local(self, node: Node, scope: _Scope) -> Step:
        steps = []
        kind = simple_type(node.child_by_field_name("type"))
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            if value:
                steps.append(self.step(value, scope))
            known = self.condition(value, scope) if value and kind in ("boolean", "Boolean") else None
            scope.declare(text_of(declarator.child_by_field_name("name")), kind, known)
        return sequence(*steps)

    def _field(self, node: Node, scope: _Scope) -> Step:
        return self._all(
            (each.child_by_field_name("value") for each in node.children_by_field_name("declarator")), scope
        )

    def _resource(self, node: Node, scope: _Scope) -> Step:
        value = self._all((node.child_by_field_name("value"),), scope)
        _declare(node, scope)
        return value

    def _if(self, node: Node, scope: _Scope) -> Step:
        asked = node.child_by_field_name("condition")
        assert asked is not None, "Java's grammar gives every branch a condition"
        ways = [self._all((node.child_by_field_name(name),), scope.inner()) for name in ("consequence", "alternative")]
        return sequence(self.step(asked, scope), If(self.condition(asked, scope), *ways))

    def _repeated(self, node: Node, scope: _Scope) -> Step:
        first = self._all(node.children_by_field_name("init"), scope)
        again = [node.child_by_field_name(name) for name in ("condition", "body", "update")]
        return sequence(first, Loop(self._all(again, scope)))

    def _for_each(self, node: Node, scope: _Scope) -> Step:
        values = self._all((node.child_by_field_name("value"),), scope)
        inner = scope.inner()
        _declare(node, inner)
        return sequence(values, Loop(self._all((node.child_by_field_name("body"),), inner)))

    def _switch(self, node: Node, scope: _Scope) -> Step:
        body = node.child_by_field_name("body")
        groups = body.named_children if body else []
        way: Step = NOTHING
        for group in reversed(groups):
            default = any(text_of(each) == "default" for each in group.named_children if each.type == "switch_label")
            steps = [each for each in group.named_children if each.type != "switch_label"]
            taken = self._all(steps, scope.inner())
            way = taken if default and way == NOTHING else If(Atom(), taken, way)
        return sequence(self._all((node.child_by_field_name("condition"),), scope), Breakable(way))

    def _try(self, node: Node, scope: _Scope) -> Step:
        inner = scope.inner()
        resources = self._all((node.child_by_field_name("resources"),), inner)
        body = self._all((node.child_by_field_name("body"),), inner)
        catches: Step = NOTHING
        for clause in (each for each in node.named_children if each.type == "catch_clause"):
            catches = If(Atom(), self._caught(clause, scope.inner()), catches)
        last = [each for each in node.named_children if each.type == "finally_clause"]
        return Try(sequence(resources, body), catches, self._all(last, scope))

    def _caught(self, clause: Node, scope: _Scope) -> Step:
        for each in clause.named_children:
            if each.type == "catch_formal_parameter":
                _declare(each, scope)
        return self._all((clause.child_by_field_name("body"),), scope)

    def _assert(self, node: Node, scope: _Scope) -> Step:
        return If(Atom(), self._all(node.named_children, scope), NOTHING)

    def _labeled(self, node: Node, scope: _Scope) -> Step:
        return Breakable(self._all(node.named_children[1:], scope))

    def _binary(self, node: Node, scope: _Scope) -> Step:
        sign, parts = text_of(operator(node)), operands(node)
        if sign not in ("&&", "||"):
            return self._all(parts, scope)
        step = self.step(parts[-1], scope)
        for part in reversed(parts[:-1]):
            asked = self.condition(part, scope)
            go_on = If(asked, step, NOTHING) if sign == "&&" else If(asked, NOTHING, step)
            step = sequence(self.step(part, scope), go_on)
        return step

    def _lambda(self, node: Node, scope: _Scope) -> Step:
        inner, listed = scope.inner(), node.child_by_field_name("parameters")
        for each in [listed, *listed.named_children] if listed else ():
            if each.type == "identifier":
                inner.declare(text_of(each), "")
            elif _is_parameter(each):
                _declare(each, inner)
        return Deferred(self._all((node.child_by_field_name("body"),), inner))

    def _reference(self, node: Node, scope: _Scope) -> Step:
        receiver, *rest = node.children
        name = text_of(rest[-1])
        call = Call(
            self._type(receiver, scope), CONSTRUCTOR if name == "new" else name, -1, (), self._inside.file.at(node)
        )
        return sequence(self.step(receiver, scope), Deferred(call))

    def _call(self, node: Node, scope: _Scope) -> Step:
        receiver = node.child_by_field_name("object")
        name = text_of(node.child_by_field_name("name"))
        steps = [self._all((receiver, node.child_by_field_name("arguments")), scope), self._called(node, scope)]
        if name in _CHANGES and receiver and (changed := self._field_meant(receiver, scope)):
            steps.append(Access(*changed, True, self._inside.file.at(node)))
        return sequence(*steps)

    def _called(self, node: Node, scope: _Scope) -> Call:
        receiver, named = node.child_by_field_name("object"), node.child_by_field_name("name")
        name = text_of(named)
        if receiver is None:
            owner = self._names.owner_of_method(self._inside.name, name)
        else:
            owner = self._type(receiver, scope)
        return self._made(owner, name, node, named or node)

    def _made(self, owner: str, name: str, node: Node, at: Node) -> Call:
        listed = node.child_by_field_name("arguments")
        arguments = [each for each in listed.named_children if not each.type.endswith("comment")] if listed else []
        constants = tuple(self._names.constant(each, self._inside.name) for each in arguments)
        return Call(owner, name, len(arguments), constants, self._inside.file.at(at))

    def _new(self, node: Node, scope: _Scope) -> Step:
        call = self._made(simple_type(node.child_by_field_name("type")), CONSTRUCTOR, node, node)
        bodies = [each for each in node.named_children if each.type == "class_body"]
        methods = [each for body in bodies for each in body.named_children if each.type in METHODS]
        later = tuple(Deferred(self._anonymous(each, scope.inner())) for each in methods)
        return sequence(self._all((node.child_by_field_name("arguments"),), scope), call, *later)

    def _anonymous(self, method: Node, scope: _Scope) -> Step:
        listed = method.child_by_field_name("parameters")
        for each in listed.named_children if listed else ():
            if _is_parameter(each):
                _declare(each, scope)
        return self._all((method.child_by_field_name("body"),), scope)

    def _other_constructor(self, node: Node, scope: _Scope) -> Step:
        own = text_of(node.child_by_field_name("constructor")) == "this"
        call = self._made(self._inside.name if own else self._inside.superclass, CONSTRUCTOR, node, node)
        return sequence(self._all((node.child_by_field_name("arguments"),), scope), call)

    def _assignment(self, node: Node, scope: _Scope) -> Step:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        assert left is not None, "Java's grammar gives every assignment a left side"
        value = self._all((right,), scope)
        if left.type == "identifier":
            scope.conditions.pop(text_of(left), None)
        reads = (
            NOTHING if text_of(operator(node)) == "=" and left.type == "identifier" else self._before_write(left, scope)
        )
        written = self._field_meant(left, scope)
        writes = Access(*written, True, self._inside.file.at(left)) if written else NOTHING
        return sequence(reads, value, writes)

    def _before_write(self, left: Node, scope: _Scope) -> Step:
        """Return what is read before an assignment: of `a.b` only `a`, of anything else all."""
        return self._all((left.child_by_field_name("object"),) if left.type == "field_access" else (left,), scope)

    def _update(self, node: Node, scope: _Scope) -> Step:
        written = self._field_meant(node.named_children[0], scope)
        writes = Access(*written, True, self._inside.file.at(node)) if written else NOTHING
        return sequence(self._all(node.named_children, scope), writes)

    def _read(self, node: Node, scope: _Scope) -> Step:
        meant = self._field_meant(node, scope)
        return Access(*meant, False, self._inside.file.at(node)) if meant else NOTHING

    def _read_of(self, node: Node, scope: _Scope) -> Step:
        return sequence(self._before_write(node, scope), self._read(node, scope))

    def _field_meant(self, node: Node, scope: _Scope) -> tuple[str, str] | None:
        """Return class and name of the field that an expression is, or None."""
        if node.type == "identifier":
            name = text_of(node)
            owner = "" if name in scope.types else self._names.owner_of_field(self._inside.name, name)
            return (owner, name) if owner else None
        if node.type == "field_access":
            receiver, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("field"))
            owner = self._type(receiver, scope) if receiver and name != "this" else ""
            return (owner, name) if owner else None
        return None

    def _type(self, node: Node, scope: _Scope) -> str:
        """Return the declared simple type of an expression; empty where it cannot be told."""
        match node.type:
            case "this":
                return self._inside.name
            case "super":
                return self._inside.superclass
            case "identifier" if text_of(node) in scope.types:
                return scope.types[text_of(node)]
            case "identifier":
                owner = self._names.owner_of_field(self._inside.name, text_of(node))
                return self._names.type_of_field(owner, text_of(node)) if owner else text_of(node)
            case "field_access" if text_of(node.child_by_field_name("field")) == "this":
                return text_of(node.child_by_field_name("object"))
            case "field_access":
                meant = self._field_meant(node, scope)
                return self._names.type_of_field(*meant) if meant else ""
            case "method_invocation":
                called = self._called(node, scope)
                return self._names.type_returned(called.owner, called.name)
            case "parenthesized_expression":
                return self._type(node.named_children[-1], scope)
            case "cast_expression" | "object_creation_expression":
                return simple_type(node.child_by_field_name("type"))
            case _:
                return ""

    def told(self, block: Node, scope: _Scope) -> Condition | None:
        """Return the condition that a method's block is: one `return` and no more; else None."""
        statements = [each for each in block.named_children if not each.type.endswith("comment")]
        if len(statements) != 1 or statements[0].type != "return_statement" or not statements[0].named_children:
            return None
        return self.condition(statements[0].named_children[-1], scope)

    def condition(self, node: Node, scope: _Scope) -> Condition:
        """Return what a condition asks."""
        match node.type:
            case "parenthesized_expression":
                return self.condition(node.named_children[-1], scope)
            case "true" | "false":
                return Truth(node.type == "true")
            case "identifier":
                return scope.conditions.get(text_of(node), Atom())
            case "unary_expression" if text_of(operator(node)) == "!":
                return Not(self.condition(node.named_children[-1], scope))
            case "method_invocation":
                call = self._called(node, scope)
                return Atom(call, exists=_EMPTY.get(call.name), equal=True if call.name in _EQUALS else None)
            case "binary_expression" if text_of(operator(node)) in ("&&", "||"):
                return self._junction(node, scope)
            case "binary_expression":
                return self._comparison(node, scope)
            case _:
                return Atom()

    def _junction(self, node: Node, scope: _Scope) -> Condition:
        parts = [self.condition(part, scope) for part in operands(node)]
        joined = parts[0]
        for part in parts[1:]:
            joined = Junction(joined, part, text_of(operator(node)) == "||")
        return joined

    def _comparison(self, node: Node, scope: _Scope) -> Condition:
        sign, parts = text_of(operator(node)), operands(node)
        literals = {each.type: each for each in parts if _is_constant(each)}
        others = [each for each in parts if not _is_constant(each)]
        if sign in ("==", "!=") and len(others) == 1 and literals.keys() & {"true", "false"}:
            same = ("true" in literals) == (sign == "==")
            asked = self.condition(others[0], scope)
            return asked if same else Not(asked)
        if sign in ("==", "!=") and "null_literal" in literals:
            return Atom(exists=sign == "!=")
        if _tells_size(node, parts):
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


def _tells_size(node: Node, parts: tuple[Node, ...]) -> bool:
    """Whether a comparison is `x.size() == 0`, or its opposite with `!=` or `>`."""
    sized = text_of(parts[0].child_by_field_name("name")) if parts[0].type == "method_invocation" else ""
    return sized == "size" and text_of(parts[-1]) == "0" and text_of(operator(node)) in ("==", "!=", ">")
