"""Examples in docstrings do what they say, and whatever is public is explained."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import ngf

NEEDS = {"ngf.torch": "torch", "ngf.plot": "matplotlib", "ngf._estimators": "sklearn",
         "ngf._transformers": "sklearn"}
MODULES = ["ngf", *(f"ngf.{module.name}" for module in pkgutil.iter_modules(ngf.__path__) if module.name != "_engine")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp_path, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)  # in case that an example writes
    failures, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failures == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    examples = [test for name in MODULES if name not in NEEDS
                for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) > 15


def public():
    for name in ngf.__all__:
        thing = getattr(ngf, name)
        yield f"ngf.{name}", thing
        members = getattr(thing, "__all__", []) if inspect.ismodule(thing) else \
            [member for member in vars(thing) if not member.startswith("_")] if inspect.isclass(thing) else []
        for member in members:
            yield f"ngf.{name}.{member}", getattr(thing, member)


def test_all_that_is_public_is_explained():
    for needed in NEEDS.values():
        pytest.importorskip(needed)
    silent = [name for name, thing in public()
              if (callable(thing) or isinstance(thing, property) or inspect.ismodule(thing))
              and not inspect.getdoc(thing)]
    assert silent == []


def test_names():
    assert sorted(ngf.__all__) == dir(ngf) == sorted(set(ngf.__all__))
    with pytest.raises(AttributeError, match="nosuch"):
        ngf.nosuch
    assert ngf.__version__.count(".") == 2


def functions():
    """Public functions, constructors and methods, each with the docstring that describes its parameters."""
    for name, thing in public():
        if inspect.isfunction(thing):
            yield name, thing, inspect.getdoc(thing)
        elif inspect.isclass(thing) and inspect.isfunction(vars(thing).get("__init__")):
            if name != "ngf.Dataset":  # functions return it
                yield name, thing.__init__, inspect.getdoc(thing)
            yield from ((f"{name}.{member}", function, inspect.getdoc(function))
                        for base in thing.__mro__ if base.__module__.startswith("ngf.")
                        for member, function in vars(base).items()
                        if inspect.isfunction(function) and not member.startswith("_"))


def documented(text):
    """The names in the section Parameters of a docstring."""
    match = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return re.findall(r"^(\w+) :", match[1], re.MULTILINE) if match else []


def missing(function, text):
    """Parameters that a docstring lacks or describes twice, and those that do not exist."""
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    return sorted(set(parameters) ^ set(documented(text))) if parameters or documented(text) else []


def test_every_parameter_is_documented():
    for needed in NEEDS.values():
        pytest.importorskip(needed)
    checked = {name: missing(function, text or "") for name, function, text in functions()}
    assert len(checked) > 40
    assert {name: names for name, names in checked.items() if names} == {}


def test_a_missing_parameter_is_noticed():
    assert missing(lambda a, b: None, "Add.\n\nParameters\n----------\na : int\n    First.\n\nReturns\n") == ["b"]
    assert missing(lambda: None, "Parameters\n----------\na : int\n") == ["a"]
