"""Every public name explains itself."""

import inspect

import layoutdsl


def test_public_names_have_docstrings() -> None:
    missing = []
    for name in layoutdsl.__all__:
        value = getattr(layoutdsl, name)
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if not inspect.getdoc(value):
            missing.append(name)
    assert missing == []
