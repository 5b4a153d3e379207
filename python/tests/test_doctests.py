"""Examples in docstrings do what they say, and whatever is public is explained."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import ngf

NEEDS = {"ngf.torch": "torch", "ngf.plot": "matplotlib", "ngf._estimators": "sklearn"}
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
