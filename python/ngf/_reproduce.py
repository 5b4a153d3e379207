"""Reproduction of the paper's table, figures and claims."""

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
    """Run experiments of the paper again and write a report to ``out``/index.html, with charts and tables.

    Finished cells are kept in a journal in ``out``.

    Parameters
    ----------
    figures : str or list of str, default "all"
        "all", or some of "table1", "fig1", "fig2a", "fig2b", "fig3a", "fig3b", "claims".
    full : bool, default False
        Use the paper's sizes (hours) instead of small ones (minutes).
    settings : str, default "text"
        "text" or "code": settings of the paper's text or of the published code, where they differ. Figure 2a
        always has those of the code; "text" adds its own beside them.
    runs : int, optional
        Runs per point of Figures 3a and 3b; by default 2, with ``full`` 25 and 20. Figure 3b has two runs per
        perturbed graph, on two graphs or more.
    out : path, default "report"
        Folder of the report.
    resume : bool, default False
        Continue an interrupted job: run only the missing cells.
    data : path, optional
        Folder with the Planetoid data sets. A synthetic network replaces a missing one, with a warning.
    seed : int, default 1
        Seed of the random numbers. Results are the same on every machine.
    verbose : bool, default False
        Print a line when a figure is done.
    threads : int, optional
        Number of threads; by default all. Results do not depend on it.
    memory : int or str, optional
        Limit of the memory that the call allocates, in bytes or as text such as "4G"; by default the free memory.

    Returns
    -------
    dict
        The content of results.json.

    Raises
    ------
    ValueError
        If a figure is unknown.
    ngf.Error
        If the report cannot be written, or the journal has other settings.

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
