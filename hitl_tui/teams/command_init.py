"""The init process of one command: starts it, tells how it ended, and ends whatever it leaves behind.

Run as a script by `hitl_tui.teams.process`, with nothing but the standard library. On Linux it is a child
subreaper: every descendant of the command stays a descendant of this process, also in a session of its own and when its
parent is gone. Elsewhere it remembers the descendants that it saw, looking once a second.

SIGTERM tells it to end the command and all its descendants: SIGTERM first, SIGKILL after the grace period. It writes
lines to the status descriptor: `started`, `failed ERRNO`, `exited CODE`, `ended SIGNAL`, `left COUNT` when something of
the command, so many processes, runs on after it, and `remain PID PID …` for what could not be ended. It exits when
nothing is left, or when it gave up. When the program that started it is gone it lets a command run to its end, and
holds the inherited lock until then; what answers to that program alone is ended.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
WATCHED = {signal.SIGCHLD, signal.SIGTERM}
GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL when nothing else is said."""
KILL_WAIT = 5.0
"""Seconds to wait after SIGKILL."""
INIT = __file__
"""The script itself, as it stands on its command line."""
LOOK = 1.0
"""Seconds between looks at the descendants where there is no subreaper."""


class CommandInit:
    """Starts one program and watches over its descendants.

    Args:
        status: descriptor to write to.
        grace: seconds between SIGTERM and SIGKILL.
        kill_wait: seconds to wait after SIGKILL.
        subreaper: orphans become children of this process.
        outlives: the program goes on when the one that started this process is gone.
    """

    def __init__(self, status: int, grace: float, kill_wait: float, subreaper: bool, outlives: bool = True) -> None:
        self.status = status
        self.grace = grace
        self.kill_wait = kill_wait
        self.subreaper = subreaper
        self.outlives = outlives
        self.main = 0
        self.seen: dict[int, str] = {}
        self.parent = os.getppid()

    def run(self, argv: list[str], env: dict[str, str]) -> None:
        """Start the program and return when it and all its descendants are gone."""
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        if not self._start(argv, env):
            return
        stopping = left = False
        while self._reap():
            if not self.main and not left:
                left = True
                self._tell(f"left {len(self._living())}")
            if self._forsaken():
                stopping = True  # nobody is left to say so
            if stopping or self._told_to_stop():
                self._stop()
                return

    def _start(self, argv: list[str], env: dict[str, str]) -> bool:
        reading, writing = os.pipe()
        self.main = os.fork()
        if self.main == 0:
            self._exec(argv, env, writing)
        os.close(writing)
        error = os.read(reading, 16)
        os.close(reading)
        empty = os.open(os.devnull, os.O_RDWR)
        for standard in (1, 2):  # the pipes belong to the command alone
            os.dup2(empty, standard)
        if error:
            os.waitpid(self.main, 0)
            self._tell(f"failed {error.decode()}")
            return False
        self._tell("started")
        return True

    def _exec(self, argv: list[str], env: dict[str, str], writing: int) -> None:
        try:
            os.setsid()
            os.close(self.status)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them; programs don't expect that
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            os.execvpe(argv[0], argv, env)
        except OSError as error:
            os.write(writing, str(error.errno).encode())
        finally:
            os._exit(127)

    def _reap(self) -> bool:
        """Take the exit codes of what ended; return whether anything is left."""
        while True:
            try:
                pid, code = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return not self.subreaper and bool(self._living())
            if pid == 0:
                return True
            if pid == self.main:
                self.main = 0
                number = os.waitstatus_to_exitcode(code)
                self._tell(f"exited {number}" if number >= 0 else f"ended {-number}")

    def _told_to_stop(self) -> bool:
        """Wait until something happens; return whether it is the word to stop."""
        if not self.subreaper:
            self.seen.update(descendants(os.getpid()))
        found = signal.sigtimedwait(WATCHED, 0 if self._forsaken() else LOOK)
        return found is not None and found.si_signo == signal.SIGTERM

    def _forsaken(self) -> bool:
        """Return whether what still runs has lost the program that started it, and may not outlive that."""
        return os.getppid() != self.parent and not (self.main and self.outlives)

    def _stop(self) -> None:
        for number, seconds in ((signal.SIGTERM, self.grace), (signal.SIGKILL, self.kill_wait)):
            until, pause = time.monotonic() + seconds, 0.005
            told: dict[int, str] = {}
            while self._reap():
                for pid, began in self._living().items():
                    if number == signal.SIGKILL or told.get(pid) != began:
                        told[pid] = began
                        send(pid, number)
                        send(pid, signal.SIGCONT)
                left = until - time.monotonic()
                if left <= 0:
                    break
                signal.sigtimedwait({signal.SIGCHLD}, min(pause, left))
                pause = min(pause * 2, 0.1)
            else:
                return
        remaining = self._living()
        if remaining:
            self._tell(f"remain {' '.join(str(pid) for pid in sorted(remaining))}")

    def _living(self) -> dict[int, str]:
        """Return the descendants that have not ended."""
        found = descendants(os.getpid())
        if self.subreaper:
            return found
        self.seen.update(found)
        there = processes()
        self.seen = {pid: began for pid, began in self.seen.items() if pid in there and there[pid][1] == began}
        return self.seen

    def _tell(self, line: str) -> None:
        try:
            os.write(self.status, f"{line}\n".encode())
        except OSError:  # the program that started this is gone
            return


def processes() -> dict[int, tuple[int, str]]:
    """Return every process that has not ended: its parent and when it began."""
    found = {}
    if os.path.exists("/proc/self/stat"):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        fields = file.read().rpartition(b")")[2].split()
                except OSError:
                    continue
                if fields[0] not in (b"Z", b"X"):
                    found[int(name)] = int(fields[1]), fields[19].decode()
        return found
    listed = subprocess.run(["/bin/ps", "-axo", "pid=,ppid=,stat=,lstart="], capture_output=True, check=False)
    for line in listed.stdout.decode("utf-8", "replace").splitlines():
        pid, parent, state, began = line.split(None, 3)
        if not state.startswith("Z"):
            found[int(pid)] = int(parent), began
    return found


def descendants(root: int) -> dict[int, str]:
    """Return the living descendants of a process, with when they began."""
    there = processes()
    below: dict[int, list[int]] = {}
    for pid, (parent, _) in there.items():
        below.setdefault(parent, []).append(pid)
    found, pending = {}, [root]
    while pending:
        for pid in below.get(pending.pop(), ()):
            found[pid] = there[pid][1]
            pending.append(pid)
    return found


def send(pid: int, number: int) -> None:
    """Signal a process; one that is gone or another user's is left alone."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def become_subreaper() -> bool:
    """Let orphans among the descendants become children of this process; return whether that is possible."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def main() -> None:
    """Read the arguments `STATUS GRACE KILL_WAIT HAS_LC_CTYPE OUTLIVES PROGRAM ARGUMENT…`."""
    status, grace, kill_wait, has_lc_ctype, outlives, *argv = sys.argv[1:]
    env = dict(os.environ)
    if has_lc_ctype == "0":
        env.pop("LC_CTYPE", None)  # Python sets it for itself in the C locale
    watching = CommandInit(int(status), float(grace), float(kill_wait), become_subreaper(), outlives == "1")
    watching.run(argv, env)


if __name__ == "__main__":
    main()
    os._exit(0)
