"""Which build the commands of this folder and of bench/ run."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM, OBSERVER = "bin/bellwether", "tests/system/flag_observer"


def add_program_options(parser, name="--program"):
    """--program and --observer; without them, those of preset `dev`, else of `ci`, which
    tests/run.sh builds.  The others are instrumented, less optimised, or have no tests."""
    builds = [ROOT / "build" / preset for preset in ("dev", "ci")]
    build = next((each for each in builds if (each / OBSERVER).exists()), builds[0])
    parser.add_argument(name, dest="program", default=str(build / PROGRAM), metavar="FILE",
                        help="the sidecar (that of preset dev, else of ci)")
    parser.add_argument("--observer", default=str(build / OBSERVER), metavar="FILE",
                        help="the observer of flags (of the same)")


def require_programs(parser, options):
    """Ends the program with what to do when one is missing."""
    for file in (options.program, options.observer):
        if not pathlib.Path(file).exists():
            parser.error(f"there is no {file}; "
                         "cmake --preset dev && cmake --build --preset dev makes it")
