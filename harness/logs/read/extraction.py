"""Log statements out of Java and Scala sources: where each one is, and the text that it always writes.

A statement is a call of a method named as a level on something named as a logger, or in Scala on nothing (the
trait `Logging`). Its message is read as a syntax tree: string literals stay, slf4j's `{}`, the conversions of
`String.format`, interpolated values and everything that is no literal become gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

import tree_sitter_java
import tree_sitter_scala
from tree_sitter import Language, Node, Parser

from harness.logs.read.statements import GAP, SourceClass, Statement

_PARSERS = {
    ".java": Parser(Language(tree_sitter_java.language())),
    ".scala": Parser(Language(tree_sitter_scala.language())),
}
_LEVELS = {"trace": "TRACE", "debug": "DEBUG", "info": "INFO", "warn": "WARN", "error": "ERROR", "fatal": "FATAL"}
_LOGGER = re.compile(r"(?i)(?:^|[.\w])(?:log|logger)(?:\(\))?$")
_CLASSES = ("class_declaration", "class_definition", "object_definition", "trait_definition", "enum_declaration")
_CALLS = ("method_invocation", "call_expression")
_SCOPES = ("method_declaration", "constructor_declaration", "lambda_expression", "function_definition")
_LOCALS = ("variable_declarator", "val_definition", "var_definition")
_CONVERSION = re.compile(r"%(?:\d+\$)?[-#+ 0,(]*\d*(?:\.\d+)?[a-zA-Z]|%n|%%")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "s": " ", "0": "\0"}
_MARGIN = re.compile(r"(?m)^[ \t]*\|")
MAX_WORDINGS = 8  # of one statement: `a ? "x" : "y"` has two
MAX_SOURCE = 4_000_000  # bytes of a source file; none of Kafka's is a tenth of it


def statements(sources: Mapping[str, bytes]) -> list[Statement]:
    """Return the log statements of source files, by path below their root (`org/apache/…/X.java`), in order."""
    return [
        statement
        for path, content in sorted(sources.items())
        if path[path.rfind(".") :] in _PARSERS and len(content) <= MAX_SOURCE
        for statement in _of_file(path, content)
    ]


def source_classes(sources: Mapping[str, bytes]) -> list[SourceClass]:
    """Return the classes, objects and traits of source files, nested ones too, with what they extend."""
    return [
        SourceClass(
            path[: path.rfind("/") + 1].replace("/", ".") + _text(found.child_by_field_name("name")),
            path,
            _parents(found),
        )
        for path, content in sorted(sources.items())
        if path[path.rfind(".") :] in _PARSERS and len(content) <= MAX_SOURCE
        for found in _nodes(_PARSERS[path[path.rfind(".") :]].parse(content).root_node, _CLASSES)
    ]


def _parents(declaration: Node) -> tuple[str, ...]:
    clause = declaration.child_by_field_name("superclass") or declaration.child_by_field_name("extend")
    named = [] if clause is None else _nodes(clause, ("type_identifier",))
    return tuple(_distinct(map(_text, named)))


def _of_file(path: str, content: bytes) -> Iterator[Statement]:
    for call in _nodes(_PARSERS[path[path.rfind(".") :]].parse(content).root_node, _CALLS):
        level, message = _logged(call)
        if message is None:
            continue
        for wording in _distinct(_wordings(message)):
            parts = tuple("".join(wording).split(GAP))
            if any(map(str.strip, parts)):
                yield Statement(path, call.start_point[0] + 1, level, parts, _owner(call))


def _owner(node: Node) -> str:
    """Return the name of the innermost class around a node."""
    around: Node | None = node
    while around is not None and around.type not in _CLASSES:
        around = around.parent
    return _text(around.child_by_field_name("name")) if around else ""


def _nodes(root: Node, kinds: Sequence[str]) -> Iterator[Node]:
    """Return all nodes of some kinds below a node, in the order of the source."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in kinds:
            yield node
        stack.extend(reversed(node.named_children))


def _logged(call: Node) -> tuple[str, Node | None]:
    """Return the level and the message of a call that logs; no message of any other call."""
    callee, name = _callee(call)
    arguments = call.child_by_field_name("arguments")
    level = _LEVELS.get(name, "")
    scala = call.type == "call_expression"
    if not level or arguments is None or not (_LOGGER.search(callee) or (scala and callee in ("", "this"))):
        return "", None
    return level, next((child for child in arguments.named_children if "comment" not in child.type), None)


def _callee(call: Node) -> tuple[str, str]:
    """Return what a method is called on, as written, and the method's name."""
    if call.type == "method_invocation":
        return _text(call.child_by_field_name("object")), _text(call.child_by_field_name("name"))
    function = call.child_by_field_name("function")
    if function is None or function.type != "field_expression":
        return "", _text(function)
    return _text(function.child_by_field_name("value")), _text(function.child_by_field_name("field"))


def _wordings(node: Node, depth: int = 0) -> list[str]:
    """Return the texts that an expression can have, GAP for each part that is not known."""
    read = _READERS.get(node.type)
    found = [GAP] if read is None or depth > 40 else read(node, depth + 1)
    return found[:MAX_WORDINGS]


def _string(node: Node, _depth: int) -> list[str]:
    raw = _text(node)
    if raw.startswith('"""'):
        return [raw[3:-3].replace("{}", GAP)]
    return [_unescaped(raw[1:-1]).replace("{}", GAP)]


def _interpolated(node: Node, _depth: int) -> list[str]:
    body = node.named_children[-1]
    content, start = node.text or b"", node.start_byte
    text, at = "", body.start_byte
    for value in body.named_children:
        if value.type == "interpolation":
            text += content[at - start : value.start_byte - start].decode("utf-8", "replace") + GAP
            at = value.end_byte
    text += content[at - start : body.end_byte - start].decode("utf-8", "replace")
    quotes = 3 if text.startswith('"""') else 1
    inner = text[quotes:-quotes].replace("$$", "$")
    if _text(node.named_children[0]) == "f":
        inner = re.sub(f"{GAP}%[-#+ 0,(]*\\d*(?:\\.\\d+)?[a-zA-Z]", GAP, inner)
    return [(inner if quotes == 3 else _unescaped(inner)).replace("{}", GAP)]


def _sum(node: Node, depth: int) -> list[str]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or _text(node.child_by_field_name("operator")) != "+":
        return [GAP]
    both = product(_wordings(left, depth), _wordings(right, depth))
    return ["".join(pair) for pair in islice(both, MAX_WORDINGS)]


def _choice(node: Node, depth: int) -> list[str]:
    branches = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
    return _distinct(text for branch in branches if branch is not None for text in _wordings(branch, depth))


def _inner(node: Node, depth: int) -> list[str]:
    """Read what is in brackets; a block has the value of its last line."""
    return _wordings(node.named_children[-1], depth) if node.named_children else [GAP]


def _called(node: Node, depth: int) -> list[str]:
    """Read `String.format("…", …)`, `"…".format(…)` and `"…".formatted(…)`."""
    callee, name = _callee(node)
    if name not in ("format", "formatted"):
        return [GAP]
    target: Node | None = None
    if callee == "String":
        arguments = node.child_by_field_name("arguments")
        target = next(iter(arguments.named_children), None) if arguments else None
    elif node.type == "method_invocation":
        target = node.child_by_field_name("object")
    else:
        function = node.child_by_field_name("function")
        target = function.child_by_field_name("value") if function else None
    return [_CONVERSION.sub(_converted, text) for text in _wordings(target, depth)] if target else [GAP]


def _converted(conversion: re.Match[str]) -> str:
    return {"%n": "\n", "%%": "%"}.get(conversion[0], GAP)


def _member(node: Node, depth: int) -> list[str]:
    """Read Scala's `.stripMargin`."""
    value = node.child_by_field_name("value")
    if value is None or _text(node.child_by_field_name("field")) != "stripMargin":
        return [GAP]
    return [_MARGIN.sub("", text) for text in _wordings(value, depth)]


def _named(node: Node, depth: int) -> list[str]:
    """Read a local variable or a constant through what it is first set to, in its method or in the file."""
    name, scope = _text(node), node.parent
    while scope is not None:
        if scope.type in _SCOPES or scope.parent is None:
            values = [value for value in map(_set_to, _declared(scope, name)) if value is not None]
            if values:
                return _wordings(values[0], depth) if len(values) == 1 else [GAP]
        scope = scope.parent
    return [GAP]


def _declared(scope: Node, name: str) -> Iterator[Node]:
    for node in _nodes(scope, _LOCALS):
        if name == _text(node.child_by_field_name("name") or node.child_by_field_name("pattern")):
            yield node


def _set_to(declaration: Node) -> Node | None:
    return declaration.child_by_field_name("value")


_READERS = {
    "string_literal": _string,
    "string": _string,
    "interpolated_string_expression": _interpolated,
    "binary_expression": _sum,
    "infix_expression": _sum,
    "ternary_expression": _choice,
    "if_expression": _choice,
    "parenthesized_expression": _inner,
    "block": _inner,
    "indented_block": _inner,
    "method_invocation": _called,
    "call_expression": _called,
    "field_expression": _member,
    "identifier": _named,
}


def _unescaped(text: str) -> str:
    def plain(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(plain, text)


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
