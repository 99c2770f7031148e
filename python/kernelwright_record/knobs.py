"""Knobs of a Python kernel: constants of the module, declared in comments `# kw:knob NAME value value ...`."""

import ast

from .refusal import Refusal


def with_knobs(text, file, knobs):
    """The module's syntax tree, with other values for some of its constants. Lines stay where they are."""
    tree = ast.parse(text, file)
    left = dict(knobs)
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            name = getattr(target, "id", None)
            if name in left and getattr(statement, "value", None) is not None:
                statement.value = ast.copy_location(ast.Constant(_value_of(left.pop(name))), statement.value)
                ast.fix_missing_locations(statement)
    if left:
        name = next(iter(left))
        raise Refusal(f"the module has no constant '{name}'", f"write {name} = VALUE at the top of the module, outside of functions")
    return tree


def _value_of(text):
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, (int, float, bool, str)) else text
