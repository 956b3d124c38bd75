"""Tree -> text; what is printed parses back to an equal tree."""

from __future__ import annotations

from typing import assert_never

from layoutdsl.language.syntax import ast

_LEVEL = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_TIGHT = 6
_UNARY = 7


def print_file(file: ast.File) -> str:
    """Return the text of all declarations, one a line."""
    return "".join(f"{print_declaration(each)}\n" for each in file.declarations)


def print_declaration(declaration: ast.Declaration) -> str:
    """Return one declaration as one line of text."""
    match declaration:
        case ast.LayoutDecl():
            return _layout(declaration)
        case ast.TableDecl():
            return _table(declaration)
        case ast.RecordDecl():
            return _record(declaration)
        case ast.RuleDecl():
            return _rule(declaration)
        case ast.GroupDecl():
            return _group(declaration)
        case ast.OperatorRuleDecl():
            return _operator_rule(declaration)
        case ast.KernelDecl():
            return _kernel(declaration)
        case ast.PreferenceDecl(operator, layouts):
            return f"prefer {operator.text} = {', '.join(map(_reference, layouts))}"
        case ast.ClaimDecl(polarity, subject, predicate, where, part=part):
            words = [
                polarity,
                f"{_reference(subject)}{'' if part is None else _field(part)}",
                _predicate(predicate),
            ]
            words.append("" if where is None else _clause(where))
            return " ".join(word for word in words if word)


def print_expression(expression: ast.Expression, outer: int = 0) -> str:
    """Return the expression; ``outer`` is the binding strength of what stands around it."""
    match expression:
        case ast.Number(value):
            return str(value)
        case ast.Name(text):
            return text
        case ast.Negation(operand):
            body = f"-{print_expression(operand, _UNARY)}"
            return f"({body})" if outer > _UNARY else body
        case ast.Call(function, arguments):
            return f"{function.text}({', '.join(map(print_expression, arguments))})"
        case ast.Tuple(parts):
            return f"({', '.join(map(print_place, parts))})"
        case ast.Application():
            return _application(expression)
        case ast.Operation(symbol, left, right):
            level = _LEVEL[symbol]
            space = "" if level == _TIGHT else " "
            one, other = print_expression(left, level), print_expression(right, level + 1)
            body = f"{one}{space}{symbol}{space}{other}"
            return f"({body})" if level < outer else body
        case _:
            assert_never(expression)


def print_place(place: ast.Place) -> str:
    """Return a coordinate, with its extent where that was declared."""
    value = print_expression(place.value)
    return value if place.extent is None else f"{value} : {print_expression(place.extent)}"


def _table(table: ast.TableDecl) -> str:
    slots = ", ".join(f"{each.name.text}: {print_expression(each.extent)}" for each in table.slots)
    entries = ", ".join(
        f"{each.axis.text} = {print_expression(each.value)}" for each in table.entries
    )
    axes = ", ".join(map(_axis, table.axes))
    text = f"table {_head(table.name, table.parameters)}({axes})[{slots}] = ({entries})"
    return text if table.where is None else f"{text} {_clause(table.where)}"


def _record(record: ast.RecordDecl) -> str:
    head = f"record {_head(record.name, record.parameters)}({', '.join(map(_axis, record.axes))})"
    parts = " ".join(map(_part, record.parts))
    return " ".join([f"{head} = {{ {parts} }}", *map(_clause, record.clauses)])


def _part(part: ast.PartDecl) -> str:
    words = [f"{part.name.text}({', '.join(map(_pick, part.picks))})"]
    if part.bits is not None:
        words.append(f"bits {part.bits[0].value}..{part.bits[1].value}")
    return " ".join([*words, "=", print_body(part.body), *map(_clause, part.clauses)])


def _rule(rule: ast.RuleDecl) -> str:
    head = f'tensor "{rule.pattern}"'
    if rule.body is None:
        return f"{head} = keep"
    if rule.axes is not None:
        head += f"({', '.join(map(_axis, rule.axes))})"
    words = [f"{head} = {print_body(rule.body)}", *_from_words(rule.stored)]
    return " ".join([*words, *map(_clause, rule.clauses)])


def _group(group: ast.GroupDecl) -> str:
    sources = ", ".join(map(_source, group.sources))
    head = f'group "{group.pattern.text}" = {_reference(group.record)}({sources})'
    return f'{head} as "{group.target.text}"'


def _source(source: ast.SourceDecl) -> str:
    named = f'{source.field.text} = "{source.name.text}"'
    return " ".join((named, *_from_words(source.stored)))


def _from_words(stored: ast.FromWords | None) -> list[str]:
    if stored is None:
        return []
    return [f"from words {stored.word.text} of {_reference(stored.layout)}"]


def _operator_rule(rule: ast.OperatorRuleDecl) -> str:
    names = ", ".join(each.text for each in rule.operators)
    operands = ", ".join(map(_operand, rule.operands))
    words = [f"rule {names}({operands}) -> {', '.join(map(_operand, rule.results))}"]
    if rule.settings:
        words.append(f"with {', '.join(map(_setting, rule.settings))}")
    return " ".join([*words, *([] if rule.where is None else [_clause(rule.where)])])


def _operand(operand: ast.OperandDecl) -> str:
    text = "" if operand.name is None else operand.name.text
    text += "?" if operand.optional else ""
    if operand.axes is not None:
        text += f"[{', '.join(map(_axis_pattern, operand.axes))}]"
    return text + ("*" if operand.many else "")


def _axis_pattern(axis: ast.AxisPatternDecl) -> str:
    name = ("" if axis.name is None else axis.name.text) + (".." if axis.many else "")
    return name if axis.role is None else f"{name}: {axis.role.text}"


def _setting(setting: ast.SettingDecl) -> str:
    text = setting.name.text
    text += "" if setting.default is None else f" = {setting.default}"
    return text if setting.role is None else f"{text}: {setting.role.text}"


def _kernel(kernel: ast.KernelDecl) -> str:
    taken = ", ".join(
        f"{each.name.text}{'?' if each.optional else ''}: {_reference(each.layout)}"
        for each in kernel.operands
    )
    results = ", ".join(map(_reference, kernel.results))
    text = f"op {kernel.operator.text}({taken}) -> {results}"
    return text if kernel.where is None else f"{text} {_clause(kernel.where)}"


def _pick(digits: tuple[ast.DigitDecl, ...]) -> str:
    said = ", ".join(map(_digit, digits))
    return said if len(digits) == 1 else f"({said})"


def _digit(digit: ast.DigitDecl) -> str:
    value = _atom(digit.value)
    if digit.extent is None:
        return value
    colon = ": " if isinstance(digit.value, ast.Name) else " : "
    return f"{value}{colon}{print_expression(digit.extent)}"


def _head(name: ast.Name, parameters: tuple[ast.Name, ...]) -> str:
    opened = f"<{', '.join(each.text for each in parameters)}>" if parameters else ""
    return f"{name.text}{opened}"


def _layout(layout: ast.LayoutDecl) -> str:
    head = f"layout {_head(layout.name, layout.parameters)}"
    if layout.axes is not None:
        head += f"({', '.join(map(_axis, layout.axes))})"
    return " ".join([f"{head} = {print_body(layout.body)}", *map(_clause, layout.clauses)])


def _axis(axis: ast.AxisDecl) -> str:
    extent = "" if axis.extent is None else f": {_atom(axis.extent)}"
    return f"{axis.name.text}{extent}{'' if axis.broadcast is None else ' broadcast'}"


def _atom(atom: ast.Name | ast.Number) -> str:
    return atom.text if isinstance(atom, ast.Name) else str(atom.value)


def print_body(body: ast.Body) -> str:
    """Return a list of coordinates, a layout by name or applied, or one in another notation."""
    if isinstance(body, ast.Reference):
        return _reference(body)
    if isinstance(body, ast.Application):
        return _application(body)
    if isinstance(body, ast.Foreign):
        return f'{body.notation.text} "{body.text}"'
    places = list(map(print_place, body.places))
    if body.chunk_rank is None:
        return f"[{', '.join(places)}]"
    return f"[{', '.join(places[: body.chunk_rank])}; {', '.join(places[body.chunk_rank :])}]"


def _reference(reference: ast.Reference) -> str:
    if not reference.arguments:
        return reference.name.text
    return f"{reference.name.text}<{', '.join(map(_atom, reference.arguments))}>"


def _application(application: ast.Application) -> str:
    if application.inner is not None:
        return f"{_reference(application.layout)}[{_reference(application.inner)}]"
    return f"{_reference(application.layout)}[{', '.join(map(print_place, application.indices))}]"


def _clause(clause: ast.Clause) -> str:
    match clause:
        case ast.FillClause(value):
            return f"fill {value}"
        case ast.ElementClause(name, interface=interface):
            return f"of {name.text}{_interface(interface)}"
        case ast.OffsetClause(value):
            return f"offset {print_expression(value)}"
        case ast.WhereClause(conditions):
            return f"where {', '.join(map(_condition, conditions))}"
        case _:
            assert_never(clause)


def _interface(interface: ast.InterfaceWords | None) -> str:
    if interface is None:
        return ""
    along = "" if interface.per is None else f" per {interface.per.text}"
    return f" as {interface.name.text}{along}"


def _condition(condition: ast.Comparison | ast.Within) -> str:
    match condition:
        case ast.Within(value, low, high):
            ends = f"{print_expression(low)}..{print_expression(high)}"
            return f"{print_expression(value)} in {ends}"
        case ast.Comparison(operands, operators):
            words = [print_expression(operands[0])]
            for symbol, operand in zip(operators, operands[1:], strict=True):
                words += [symbol, print_expression(operand)]
            return " ".join(words)


def _field(part: ast.FieldName) -> str:
    axes = f"({', '.join(each.text for each in part.axes)})" if part.axes else ""
    return f".{part.name.text}{axes}"


def _predicate(predicate: ast.Predicate) -> str:
    match predicate:
        case ast.Sound():
            return ""
        case ast.Equals(right, names):
            written = _right(right)
            given = [f"{each.name.text} = {print_expression(each.value)}" for each in names]
            return f"== {written}{' with ' if given else ''}{', '.join(given)}"
        case ast.Fits(width, measure):
            return f"fits {_width(width)}{_measure(measure)}"
        case ast.OffsetsFit(width, measure):
            return f"offsets fit {_width(width)}{_measure(measure)}"
        case ast.Computes(width):
            return f"computes in {_width(width)}"
        case ast.Keeps(places):
            return f"keeps {', '.join(map(print_place, places))} contiguous"
        case ast.Aligns(places, number, element):
            run = ", ".join(map(print_place, places))
            of = "" if element is None else f" of {element.text}"
            return f"aligns {run} to {number.value} bytes{of}"
        case ast.Fills(number):
            return f"fills words of {number.value} bits"
        case ast.Reads():
            return _reads(predicate)
        case ast.Inverts(layout):
            return f"inverts {_reference(layout)}"
        case _:
            assert_never(predicate)


def _right(right: ast.Body | ast.Expression) -> str:
    return print_body(right) if isinstance(right, ast.Body) else print_expression(right)


def _reads(predicate: ast.Reads) -> str:
    of = "" if predicate.element is None else f" of {predicate.element.text}"
    by = f"{predicate.thread.text}: {predicate.threads.value}"
    at = ", ".join(f"{e.axis.text} = {print_expression(e.value)}" for e in predicate.index)
    return f"reads {predicate.bytes.value} bytes{of} by {by} at ({at}) without conflicts"


def _width(width: ast.Name | ast.Number) -> str:
    return width.text if isinstance(width, ast.Name) else f"{width.value} bits"


def _measure(measure: ast.Measure | None) -> str:
    if measure is None:
        return ""
    return " in bytes" if measure.element is None else f" in bytes of {measure.element.text}"
