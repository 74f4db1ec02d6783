"""What a process may take of the machine: bounds that it puts on itself, or, run as a script, on a Python program.

`process_limits.py MEMORY SECONDS FILE_SIZE PROGRAM` runs the program; it needs nothing but the standard library.
"""

import resource
import runpy
import sys
from contextlib import suppress


def limit_process(memory: int, seconds: int = 0, file_size: int = 0) -> None:
    """Bound what this process may take; it can't take the bounds away, and a system may lack one.

    Args:
        memory: bytes that it may map, its programs among them.
        seconds: of processor time; 0 for no bound.
        file_size: bytes of a file that it writes; 0 for no bound.
    """
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, file_size),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(OSError, ValueError):
            if most:
                resource.setrlimit(kind, (bound, bound))


if __name__ == "__main__":
    _, *_limits, _program = sys.argv
    limit_process(*map(int, _limits))
    sys.argv = [_program]
    runpy.run_path(_program, run_name="__main__")
