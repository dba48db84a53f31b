"""The second reading of Java: what each method does, as a tree of steps; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tree_sitter import Node

from harness.audit.code import (
    NOTHING,
    Access,
    Atom,
    Breakable,
    Call,
    Deferred,
    Exit,
    If,
    JavaClass,
    Locked,
    Loop,
    Method,
    Step,
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
    parts_of,
    simple_type,
    text_of,
)
from harness.audit.meaning import CONSTRUCTOR, Meaning, Scope, declare, is_parameter

_EXITS = {
    "return_statement": Exit.RETURNS,
    "throw_statement": Exit.THROWS,
    "yield_statement": Exit.BREAKS,
}
_LEAVES = ("break_statement", "continue_statement")
_FALLS_THROUGH = "switch_block_statement_group"
_LEAVES_A_GROUP = (*_LEAVES, *_EXITS)
_MOST_FALLING = 30  # groups in a row that fall through: what is nested deeper cannot be walked
_REPEATED = ("while_statement", "do_statement", "for_statement")
_INITIAL = ("field_declaration", "constant_declaration", "static_initializer", "block")
_SCOPED = ("block", "constructor_body", "switch_block_statement_group", "switch_rule")
# What changes what a field holds: a list, a queue, a map, a reference or number of java.util.concurrent.atomic.
_CHANGES = (
    *("set", "add", "addAll", "clear", "remove", "removeAll", "removeIf", "replaceAll", "retainAll", "sort"),
    *("addFirst", "addLast", "removeFirst", "removeLast", "offer", "poll", "pop", "push"),
    *("put", "putAll", "putIfAbsent", "compute", "computeIfAbsent", "computeIfPresent", "merge", "replace"),
    *("compareAndSet", "compareAndExchange", "weakCompareAndSetPlain", "weakCompareAndSetVolatile"),
    *("lazySet", "setPlain", "setOpaque", "setRelease", "getAndSet"),
    *("getAndUpdate", "updateAndGet", "getAndAccumulate", "accumulateAndGet"),
    *("incrementAndGet", "getAndIncrement", "decrementAndGet", "getAndDecrement", "addAndGet", "getAndAdd"),
)
# What gives a part of it away that can change the whole.
_VIEWS = ("iterator", "listIterator", "subList", "keySet", "values", "entrySet")
_UPDATE = "update_expression"
# What asks a value, or goes through it, and does not pass it on.
_ASKING = (
    *("binary_expression", "unary_expression", _UPDATE, "instanceof_expression", "switch_expression"),
    *("if_statement", "while_statement", "do_statement", "for_statement", "enhanced_for_statement"),
    *("synchronized_statement", "assert_statement"),
)


def class_of(declared: Declared, names: Names) -> JavaClass:
    """Return a class with the bodies of its methods."""
    members = list(members_of(declared.node))
    initial = _Body(declared, names)
    return JavaClass(
        name=declared.name,
        superclass=declared.superclass,
        fields=declared.fields,
        methods=tuple(_method(each, declared, names) for each in members if each.type in METHODS),
        initial=sequence(*(initial.step(each, Scope()) for each in members if each.type in _INITIAL)),
        at=declared.file.at(declared.node),
    )


def _method(node: Node, declared: Declared, names: Names) -> Method:
    body, scope = _Body(declared, names), Scope()
    listed = node.child_by_field_name("parameters") or declared.node.child_by_field_name("parameters")
    parameters = tuple(declare(each, scope) for each in (parts_of(listed) if listed else ()) if is_parameter(each))
    block = node.child_by_field_name("body")
    steps = body.step(block, scope) if block else NOTHING
    returns = node.child_by_field_name("type")
    modifiers = modifiers_of(node)
    if "synchronized" in modifiers and "static" not in modifiers:
        steps = Locked(steps, f"{declared.name}.this")
    return Method(
        owner=declared.name,
        name=text_of(node.child_by_field_name("name")) if returns else CONSTRUCTOR,
        parameters=parameters,
        returns=simple_type(returns),
        modifiers=modifiers,
        body=steps,
        returned=Meaning(declared, names).returned_by(block, scope) if block else None,
        at=declared.file.at(node.child_by_field_name("name") or node),
    )


class _Body:
    """Translates what stands in the body of a class."""

    def __init__(self, inside: Declared, names: Names) -> None:
        self._file = inside.file
        self._meaning = Meaning(inside, names)
        self._special: dict[str, Callable[[Node, Scope], Step]] = {
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
            "synchronized_statement": self._synchronized,
            "binary_expression": self._binary,
            "lambda_expression": self._lambda,
            "method_reference": self._reference,
            "method_invocation": self._call,
            "object_creation_expression": self._new,
            "explicit_constructor_invocation": self._other_constructor,
            "assignment_expression": self._assignment,
            _UPDATE: self._update,
            "identifier": self._read,
            "field_access": self._read_of,
            "resource": self._resource,
        }

    def step(self, node: Node, scope: Scope) -> Step:
        """Return what a statement or an expression does, in the order in which Java evaluates it."""
        if node.type in self._special:
            return self._special[node.type](node, scope)
        if node.type in _LEAVES:
            return Exit.BREAKS
        if node.type in _EXITS:
            return sequence(self._all(parts_of(node), scope), _EXITS[node.type])
        if node.type in TYPES or node.type.endswith(("_type", "_type_identifier", "type_identifier")):
            return NOTHING
        if node.type in _REPEATED:
            return self._repeated(node, scope.inner())
        return self._all(parts_of(node), scope.inner() if node.type in _SCOPED else scope)

    def _all(self, nodes: Iterable[Node | None], scope: Scope) -> Step:
        return sequence(*(self.step(node, scope) for node in nodes if node))

    def _local(self, node: Node, scope: Scope) -> Step:
        steps = []
        kind = simple_type(node.child_by_field_name("type"))
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            if value:
                steps.append(self.step(value, scope))
            known = self._meaning.condition(value, scope) if value and kind in ("boolean", "Boolean") else None
            scope.declare(text_of(declarator.child_by_field_name("name")), kind, known)
        return sequence(*steps)

    def _field(self, node: Node, scope: Scope) -> Step:
        return self._all(
            (each.child_by_field_name("value") for each in node.children_by_field_name("declarator")), scope
        )

    def _resource(self, node: Node, scope: Scope) -> Step:
        value = self._all((node.child_by_field_name("value"),), scope)
        declare(node, scope)
        return value

    def _if(self, node: Node, scope: Scope) -> Step:
        condition = node.child_by_field_name("condition")
        assert condition is not None, "Java's grammar gives every branch a condition"
        ways = [self._all((node.child_by_field_name(name),), scope.inner()) for name in ("consequence", "alternative")]
        return sequence(self.step(condition, scope), If(self._meaning.condition(condition, scope), *ways))

    def _repeated(self, node: Node, scope: Scope) -> Step:
        first = self._all(node.children_by_field_name("init"), scope)
        again = [node.child_by_field_name(name) for name in ("condition", "body", "update")]
        return sequence(first, Loop(self._all(again, scope)))

    def _for_each(self, node: Node, scope: Scope) -> Step:
        values = self._all((node.child_by_field_name("value"),), scope)
        inner = scope.inner()
        declare(node, inner)
        return sequence(values, Loop(self._all((node.child_by_field_name("body"),), inner)))

    def _switch(self, node: Node, scope: Scope) -> Step:
        body = node.child_by_field_name("body")
        groups = parts_of(body) if body else []
        inner = scope.inner()  # what one group declares the next ones know
        ways = _falling_through(groups, [self._all(_without_labels(group), inner) for group in groups])
        if not any(_is_default(label) for group in groups for label in parts_of(group)):
            ways.append(NOTHING)
        return sequence(self._all((node.child_by_field_name("condition"),), scope), Breakable(_one_of(ways)))

    def _try(self, node: Node, scope: Scope) -> Step:
        inner = scope.inner()
        resources = self._all((node.child_by_field_name("resources"),), inner)
        body = self._all((node.child_by_field_name("body"),), inner)
        clauses = [each for each in parts_of(node) if each.type == "catch_clause"]
        catches = _one_of([self._caught(clause, scope.inner()) for clause in clauses])
        last = [each for each in parts_of(node) if each.type == "finally_clause"]
        return Try(sequence(resources, body), catches, self._all(last, scope))

    def _caught(self, clause: Node, scope: Scope) -> Step:
        for each in parts_of(clause):
            if each.type == "catch_formal_parameter":
                declare(each, scope)
        return self._all((clause.child_by_field_name("body"),), scope)

    def _assert(self, node: Node, scope: Scope) -> Step:
        return If(Atom(), self._all(parts_of(node), scope), NOTHING)

    def _labeled(self, node: Node, scope: Scope) -> Step:
        return Breakable(self._all(parts_of(node)[1:], scope))

    def _synchronized(self, node: Node, scope: Scope) -> Step:
        held = parts_of(node)[0]
        body = self._all((node.child_by_field_name("body"),), scope)
        return sequence(self.step(held, scope), Locked(body, self._lock(parts_of(held)[0], scope)))

    def _lock(self, node: Node, scope: Scope) -> str:
        """Return which lock an expression is: that of this object, or what a field of it holds; else nothing."""
        if node.type == "this":
            return "" if _in_anonymous_class(node) else f"{self._meaning.inside.name}.this"
        meant = self._meaning.field_meant(node, scope)
        return ".".join(meant) if meant and _is_own(node) else ""

    def _binary(self, node: Node, scope: Scope) -> Step:
        sign, parts = text_of(operator(node)), operands(node)
        if sign not in ("&&", "||"):
            return self._all(parts, scope)
        step = self.step(parts[-1], scope)
        for part in reversed(parts[:-1]):
            condition = self._meaning.condition(part, scope)
            go_on = If(condition, step, NOTHING) if sign == "&&" else If(condition, NOTHING, step)
            step = sequence(self.step(part, scope), go_on)
        return step

    def _lambda(self, node: Node, scope: Scope) -> Step:
        inner, listed = scope.inner(), node.child_by_field_name("parameters")
        for each in [listed, *parts_of(listed)] if listed else ():
            if each.type == "identifier":
                inner.declare(text_of(each), "")
            elif is_parameter(each):
                declare(each, inner)
        return Deferred(self._all((node.child_by_field_name("body"),), inner))

    def _reference(self, node: Node, scope: Scope) -> Step:
        receiver, name = parts_of(node)[0], text_of(node.children[-1])
        call = Call(
            self._meaning.type_of(receiver, scope), CONSTRUCTOR if name == "new" else name, -1, (), self._file.at(node)
        )
        return sequence(self.step(receiver, scope), Deferred(call))

    def _call(self, node: Node, scope: Scope) -> Step:
        receiver = node.child_by_field_name("object")
        name = text_of(node.child_by_field_name("name"))
        steps = [self._all((receiver, node.child_by_field_name("arguments")), scope), self._meaning.call(node, scope)]
        if name in _CHANGES and receiver:
            steps.append(self._access(receiver, scope, True, node))
        return sequence(*steps)

    def _new(self, node: Node, scope: Scope) -> Step:
        call = self._meaning.made(simple_type(node.child_by_field_name("type")), CONSTRUCTOR, node, node)
        bodies = [each for each in parts_of(node) if each.type == "class_body"]
        members = [each for body in bodies for each in parts_of(body)]
        begun = self._all((each for each in members if each.type in _INITIAL), scope.inner())
        later = tuple(Deferred(self._anonymous(each, scope.inner())) for each in members if each.type in METHODS)
        return sequence(self._all((node.child_by_field_name("arguments"),), scope), call, begun, *later)

    def _anonymous(self, method: Node, scope: Scope) -> Step:
        listed = method.child_by_field_name("parameters")
        for each in parts_of(listed) if listed else ():
            if is_parameter(each):
                declare(each, scope)
        return self._all((method.child_by_field_name("body"),), scope)

    def _other_constructor(self, node: Node, scope: Scope) -> Step:
        own = text_of(node.child_by_field_name("constructor")) == "this"
        inside = self._meaning.inside
        call = self._meaning.made(inside.name if own else inside.superclass, CONSTRUCTOR, node, node)
        return sequence(self._all((node.child_by_field_name("arguments"),), scope), call)

    def _assignment(self, node: Node, scope: Scope) -> Step:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        assert left is not None, "Java's grammar gives every assignment a left side"
        value = self._all((right,), scope)
        if left.type == "identifier":
            scope.conditions.pop(text_of(left), None)
        reads = (
            NOTHING if text_of(operator(node)) == "=" and left.type == "identifier" else self._before_write(left, scope)
        )
        return sequence(reads, value, self._access(left, scope, True, left))

    def _before_write(self, left: Node, scope: Scope) -> Step:
        """Return what is read before an assignment: of `a.b` only `a`, of anything else all."""
        return self._all((left.child_by_field_name("object"),) if left.type == "field_access" else (left,), scope)

    def _update(self, node: Node, scope: Scope) -> Step:
        return sequence(self._all(parts_of(node), scope), self._access(parts_of(node)[0], scope, True, node))

    def _read(self, node: Node, scope: Scope) -> Step:
        return self._access(node, scope, False, node)

    def _access(self, node: Node, scope: Scope, writes: bool, at: Node) -> Step:
        meant = self._meaning.field_meant(node, scope)
        if not meant:
            return NOTHING
        return Access(*meant, writes, self._file.at(at), _is_own(node), not writes and _is_lent(node))

    def _read_of(self, node: Node, scope: Scope) -> Step:
        return sequence(self._before_write(node, scope), self._read(node, scope))


def _is_own(node: Node) -> bool:
    """Whether a field is named without another object before it."""
    receiver = node.child_by_field_name("object")
    return receiver is None or receiver.type == "this"


def _is_lent(node: Node) -> bool:
    """Whether what is read goes to somebody else; see `code.Access`."""
    above = node.parent
    while above and above.type == "parenthesized_expression":
        node, above = above, above.parent
    if above is None or above.type in _ASKING:
        return False
    if above.type == "method_invocation" and above.child_by_field_name("object") == node:
        return text_of(above.child_by_field_name("name")) in _VIEWS
    return above.type != "array_access" or _is_assigned(above)


def _is_assigned(node: Node) -> bool:
    above = node.parent
    is_left = above is not None and above.child_by_field_name("left") == node
    return above is not None and ((above.type == "assignment_expression" and is_left) or above.type == _UPDATE)


def _in_anonymous_class(node: Node) -> bool:
    above = node.parent
    while above and above.type not in TYPES:
        if above.type == "object_creation_expression":
            return True
        above = above.parent
    return False


def _one_of(ways: list[Step]) -> Step:
    """Return a step that is one of some; halved and halved again, so that many of them do not nest deeply."""
    if len(ways) < 2:
        return ways[0] if ways else NOTHING
    half = len(ways) // 2
    return If(Atom(), _one_of(ways[:half]), _one_of(ways[half:]))


def _falling_through(groups: Sequence[Node], steps: Sequence[Step]) -> list[Step]:
    """Return what is done from each group of a switch on: of `case 1:` also what follows, of `case 1 ->` it alone."""
    ways: list[Step] = []
    depth = 0
    for group, step in zip(reversed(groups), reversed(steps), strict=True):
        done = _without_labels(group)
        goes_on = group.type == _FALLS_THROUGH and not (done and done[-1].type in _LEAVES_A_GROUP)
        falls = goes_on and bool(ways) and depth < _MOST_FALLING
        depth = depth + 1 if falls else 0
        ways.append(sequence(step, ways[-1]) if falls else step)
    return ways[::-1]


def _without_labels(group: Node) -> list[Node]:
    return [each for each in parts_of(group) if each.type != "switch_label"]


def _is_default(node: Node) -> bool:
    return node.type == "switch_label" and text_of(node).startswith("default")
