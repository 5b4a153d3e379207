"""The paper's table, figures and claims, run again."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from . import _arguments as arguments
from . import _engine
from ._data import data_folders


def reproduce(figures="all", *, full: bool = False, settings: str = "text", runs: int | None = None, out="report",
              resume: bool = False, data=None, seed: int = 1, verbose: bool = False, threads: int | None = None,
              memory=None) -> dict:
    """Runs figures of the paper again, and writes a report: ``out``/index.html, with pictures and tables beside it.

    ``figures``: "all", or some of "table1", "fig1", "fig2a", "fig2b", "fig3a", "fig3b", "claims". Finished pieces are
    kept; ``resume`` goes on with a job that was cut off. Returns what is in results.json.

    >>> import tempfile
    >>> results = reproduce("fig1", out=tempfile.mkdtemp())
    >>> results["fig1"][0]["graph"]
    'er'
    """
    wanted = [figures] if isinstance(figures, str) else list(figures)
    unknown = [name for name in wanted if name not in ("all", *_engine.figure_names)]
    if unknown:
        raise ValueError(f"no figure {unknown[0]!r}; there are {', '.join(_engine.figure_names)}")
    names = [name for name in _engine.figure_names if name in wanted or "all" in wanted]
    study = _engine.Study()
    study.full = full
    study.settings = arguments.name(settings, "settings")
    study.runs = 0 if runs is None else arguments.whole(runs, "runs", 1, 1000)
    study.seed = arguments.seed(seed)
    study.threads = arguments.threads(threads)
    study.memory = arguments.memory(memory)
    missing, damage = _engine.reproduce(names, Path(out), data_folders(data), study, resume,
                                        _tell if verbose else None)
    if damage:
        warnings.warn(damage, stacklevel=2)
    if missing:
        warnings.warn(f"a synthetic citation network stands in for {', '.join(missing)}, not here", stacklevel=2)
    return json.loads((Path(out) / "results.json").read_text(encoding="utf-8"))


def _tell(figure: str, seconds: float, left: float) -> None:
    print(f"{figure}: done in {seconds:.0f} s, about {left:.0f} s left", flush=True)
