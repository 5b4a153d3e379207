"""What the scripts here share: the data sets, the program that times ngf, and the table."""

import json
import os
import pathlib
import subprocess
import sys
import time


def add_arguments(parser):
    parser.add_argument("names", nargs="*", help="graphs; all where none is named")
    parser.add_argument("--build", type=pathlib.Path, default="build", help="folder that ngf was built in")
    parser.add_argument("--data", type=pathlib.Path, help="folder of data sets; $NGF_DATA, ../shared/data")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def default_data_folder():
    return pathlib.Path(os.environ.get("NGF_DATA", "../shared/data"))


def data_folder(arguments):
    return arguments.data or default_data_folder()


def names_there(script, arguments, paths):
    """The requested names whose file exists. `paths` maps names to files, or to None where no file is needed."""
    names = []
    for name, path in paths.items():
        if arguments.names and name not in arguments.names:
            continue
        if path is None or path.exists():
            names.append(name)
        else:
            print(f"{script}: {name} is left out: no {path}", file=sys.stderr)
    return names


def run_ngf(script, arguments, names):
    """What the program of the same name says of these graphs."""
    program = arguments.build / "bench" / script
    if not os.access(program, os.X_OK):
        sys.exit(f"{script}: {program} is not there; build it, or name the folder with --build")
    output = subprocess.run([program, data_folder(arguments), *names], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(output.stdout)


def print_result(arguments, result, limit):
    if arguments.json:
        print(json.dumps(result))
        return
    print(f"{'':44} {'ms':>12} {'of ngf':>9} {'of limit':>9}")
    for row in result["rows"]:
        fraction = f"{row['limit_fraction']:9.1%}" if row["limit_fraction"] > 0 else " " * 9
        print(f"{row['name']:44} {row['seconds'] * 1e3:12.3f} {row['ratio']:8.2f}x {fraction}  {row['note']}")
    print(f"limit: {limit}")


def best(body, seconds=1.0):
    """The shortest time of one call, in seconds. Calls are repeated until they have taken `seconds` together."""
    shortest, spent = float("inf"), 0.0
    while spent < seconds:
        start = time.perf_counter()
        body()
        took = time.perf_counter() - start
        shortest = min(shortest, took)
        spent += took
    return shortest
