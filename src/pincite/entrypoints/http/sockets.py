"""The sockets at which a running service is found by the commands of its own user.

Each library that is served has one, in the user's runtime folder. Its name is made of all that an
answer depends on beside the library: the code, and the variables that pincite reads. So a service
of another version or with other settings is simply not found.

A command looks here before it loads anything else, so this imports only what takes no time.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
from contextlib import contextmanager, suppress
from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Where settings and models are, whose consent counts, and which day it is.
_ALSO_READ = (
    "HOME",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "SUDO_UID",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
_OF_A_CLIENT = ("PINCITE_API_KEY", "PINCITE_SERVER", "PINCITE_SERVICE")
_ENDING = ".sock"
_MAC_PEER_USER, _MAC_PEER_PROCESS = 1, 2  # of <sys/un.h>, for level 0


def runtime_folder() -> str:
    """Where the sockets of this user are."""
    user = os.getuid()
    for folder in (os.environ.get("XDG_RUNTIME_DIR"), f"/run/user/{user}"):
        if folder and os.path.isdir(folder):
            return f"{folder}/pincite"
    return f"{os.environ.get('TMPDIR') or '/tmp'}/pincite-{user}"  # noqa: S108 — checked before use


def is_own(folder: str) -> bool:
    """Whether the folder is there, and nobody else can put a socket into it."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    mine = status.st_uid == os.getuid() and not status.st_mode & 0o077
    return stat.S_ISDIR(status.st_mode) and mine


def socket_path(root: str | Path, made_with: str = "") -> str:
    """The socket for the library in this folder, whether anybody listens there or not."""
    return f"{runtime_folder()}/{_hash(os.fspath(root))}-{made_with or stamp()}{_ENDING}"


def stamp() -> str:
    """Changes with our code, as a version number need not, and with the variables we read."""
    read = {name: os.environ.get(name, "") for name in _ALSO_READ}
    read |= {name: one for name, one in os.environ.items() if name.startswith("PINCITE_")}
    told = (f"{name}={one}" for name, one in sorted(read.items()) if name not in _OF_A_CLIENT)
    return _hash(sys.prefix, sys.version, *sorted(_files(_PACKAGE)), *told)


def _hash(*facts: str) -> str:
    return sha256("\0".join(facts).encode(errors="surrogateescape")).hexdigest()[:16]


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        for one in found:
            if one.name.endswith(".py"):
                status = one.stat()
                yield f"{one.path} {status.st_size} {status.st_mtime_ns}"
            elif "." not in one.name and one.name != "__pycache__" and one.is_dir():
                yield from _files(one.path)


def peer(connection: socket.socket) -> tuple[int, int]:
    """The process and the user at the other end."""
    if hasattr(socket, "SO_PEERCRED"):
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process, user, _ = struct.unpack("3i", told)
        return process, user
    (process,) = struct.unpack("i", connection.getsockopt(0, _MAC_PEER_PROCESS, 4))
    _, user = struct.unpack("2I", connection.getsockopt(0, _MAC_PEER_USER, 76)[:8])
    return process, user


def connected(path: str, seconds: float) -> socket.socket:
    """A connection to whoever listens there; OSError where nobody does, or another user."""
    if not is_own(os.path.dirname(path)):
        raise PermissionError(f"{os.path.dirname(path)} is not a folder of this user alone")
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(seconds)
        connection.connect(path)
        user = peer(connection)[1]
    except BaseException:
        connection.close()
        raise
    if user != os.getuid():
        connection.close()
        raise PermissionError(f"another user listens at {path}")
    return connection


@contextmanager
def bound(root: str | Path) -> Iterator[socket.socket]:
    """Listen for the commands of this user that ask the library in this folder.

    SettingsError where somebody listens there already, or nobody can.
    """
    from pincite.errors import SettingsError

    path, folder = socket_path(root), runtime_folder()
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700, exist_ok=True)
    if not is_own(folder):
        raise SettingsError(
            f"{folder} is not a folder for you alone, so no service can listen there; remove it, "
            "or run `chmod 700` on it"
        )
    with socket.socket(socket.AF_UNIX) as listener:
        lock = _locked(folder)
        try:
            if _is_used(path):
                raise SettingsError(
                    f"a service for {os.fspath(root)} is running already; see "
                    "`pincite service status`"
                )
            listener.bind(path)
            os.chmod(path, 0o600)
            listener.listen(128)
            inode = os.stat(path).st_ino
        except OSError as error:
            raise SettingsError(
                f"no service can listen at {path}: {error}; set XDG_RUNTIME_DIR to a folder of "
                "yours with a short path"
            ) from error
        finally:
            os.close(lock)
        try:
            yield listener
        finally:
            listener.close()
            with suppress(FileNotFoundError):
                if os.stat(path).st_ino == inode:  # not of one that took over
                    os.unlink(path)


def listening() -> list[str]:
    """Every socket of this user at which somebody listens; the others are removed."""
    folder = runtime_folder()
    if not is_own(folder):
        return []
    lock = _locked(folder)  # one that is just being made is not taken for one that was left
    try:
        found = sorted(one for one in os.listdir(folder) if one.endswith(_ENDING))
        return [path for path in (f"{folder}/{one}" for one in found) if _is_used(path)]
    finally:
        os.close(lock)


def _is_used(path: str) -> bool:
    """Whether somebody listens there; a socket that was left behind is removed."""
    try:
        connected(path, 1.0).close()
    except FileNotFoundError:
        return False
    except ConnectionRefusedError:
        os.unlink(path)
        return False
    except TimeoutError:
        pass  # too busy to let us in
    return True


def _locked(folder: str) -> int:
    """A descriptor; until it is closed nobody else makes or removes a socket."""
    import fcntl

    descriptor = os.open(f"{folder}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor
