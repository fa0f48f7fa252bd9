"""Long work of a service, one job after another, as the journal has them.

What a killed service was at begins again with the next one: index runs go on where they were.
"""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from pincite.engine.library import Library
from pincite.engine.serving import Access, AnyLibrary, Libraries
from pincite.errors import LibraryBusy, PinciteError, SettingsError, StoreBusy
from pincite.records import Progress
from pincite.records.journal import Job, JobState
from pincite.stores.journal import Journal, new_id

_SECONDS_BETWEEN_NOTES = 0.5
_SECONDS_BETWEEN_TRIES = 2.0  # while another process writes
_KEPT_SECONDS = 30 * 24 * 3600  # of a job that is over
_MOST_ATTEMPTS = 3  # at a job in whose midst the service was killed
_HOST = platform.node()
_THIS_PROCESS = f"{_HOST} {os.getpid()}"

OnProgress = Callable[[Progress], None]
_log = logging.getLogger(__name__)


class _Stopped(Exception):
    """The service ends; the job goes on with the next one."""


class _Cancelled(Exception):
    """Nobody wants the job any more."""


class Jobs:
    """Does the jobs of some libraries in a thread of its own, one at a time."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._waiting: SimpleQueue[tuple[Journal, str] | None] = SimpleQueue()
        self._cancelled: set[str] = set()
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Go on with what was left, and forget what was over long ago."""
        for journal in self._libraries.journals():
            journal.forget_jobs(before=time.time() - _KEPT_SECONDS)
            for job in journal.jobs():
                if not job.is_over and not _is_done_elsewhere(job):
                    self._waiting.put((journal, job.id))
        self._thread.start()

    def submit(
        self, library: AnyLibrary, name: str, kind: str, options: Mapping[str, Any], access: Access
    ) -> Job:
        """Note a job and do it when its turn comes."""
        now = time.time()
        journal = library.journal
        job = Job(new_id(now), name, kind, access.user, access.key_id, options, made_at=now)
        journal.save_job(job)
        self._waiting.put((journal, job.id))
        return job

    def cancel(self, library: AnyLibrary, job: Job) -> Job:
        """Stop a job at its next step; one that is over stays as it is."""
        if job.is_over:
            return job
        self._cancelled.add(job.id)  # another service that does it reads so in the journal
        return library.journal.save_job(replace(job, state="cancelled", message="cancelled"))

    def close(self) -> None:
        """Stop at the next step; what is not done goes on when a service starts again."""
        self._stopping.set()
        self._waiting.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        while (waiting := self._waiting.get()) is not None and not self._stopping.is_set():
            journal, job_id = waiting
            try:
                job = journal.job(job_id)
                if job is not None and not job.is_over:
                    self._do(journal, job)
            except Exception:  # noqa: BLE001 — of the journal, say; the next job may work
                _log.exception("a job could not be noted")

    def _do(self, journal: Journal, job: Job) -> None:
        attempts = job.attempts + 1
        job = replace(job, state="running", message="", begun_by=_THIS_PROCESS, attempts=attempts)
        journal.save_job(job)
        progress = _JobProgress(journal, job, self._check)
        state: JobState = "failed"
        try:
            if attempts > _MOST_ATTEMPTS:
                message = f"the service ended {_MOST_ATTEMPTS} times while it did this"
            else:
                message = self._done(job, progress)
                state = "done"
        except _Cancelled:
            state, message = "cancelled", "cancelled"
            self._undo(job)
        except _Stopped:
            state, message = "waiting", "the service was stopped; the next one goes on"
            attempts = 0
        except PinciteError as error:
            message = str(error)
        except Exception:  # noqa: BLE001 — told in the log; the next job may work
            _log.exception("job %s", job.id)
            message = "internal error; see the log of the service"
        journal.save_job(
            replace(progress.job, state=state, message=message, attempts=attempts, begun_by="")
        )
        self._cancelled.discard(job.id)

    def _done(self, job: Job, progress: _JobProgress) -> str:
        while True:
            self._check(job.id)
            try:
                library = self._libraries.library_of(job)
                return _WORK[job.kind](library, job.options, progress.note)
            except (LibraryBusy, StoreBusy) as busy:
                progress.say(f"waiting: {busy}")
                self._stopping.wait(_SECONDS_BETWEEN_TRIES)

    def _undo(self, job: Job) -> None:
        """A file whose indexing was cancelled goes, or the folder's next update would index it."""
        library = self._libraries.library_of(job)
        if job.kind == "index" and isinstance(library, Library):
            library.take_back_upload(str(job.options["path"]))

    def _check(self, job_id: str) -> None:
        if self._stopping.is_set():
            raise _Stopped
        if job_id in self._cancelled:
            raise _Cancelled


@dataclass
class _JobProgress:
    """Notes in the journal how far a job is, now and then."""

    journal: Journal
    job: Job
    check: Callable[[str], None]
    began: float = 0.0
    noted: float = 0.0

    def note(self, progress: Progress) -> None:
        """Also the moment at which a job can be stopped: between two steps."""
        self.check(self.job.id)
        now = time.monotonic()
        self.began = self.began or now
        is_last = progress.documents_done == progress.documents_total
        if now - self.noted < _SECONDS_BETWEEN_NOTES and not is_last:
            return
        self.noted = now
        stored = self.journal.job(self.job.id)
        if stored is not None and stored.state == "cancelled":
            raise _Cancelled
        windows = progress.windows_total > 0
        done = progress.windows_done if windows else progress.bytes_done
        total = progress.windows_total if windows else progress.bytes_total
        passed = max(now - self.began, 0.001)
        told = {name: value for name, value in asdict(progress).items() if name != "note"}
        if windows:  # of one large file, too, it is told how much of it is done
            told["bytes_done"] = progress.bytes_total * done // total
        told["bytes_per_second"] = round(told["bytes_done"] / passed)
        told["seconds_left"] = round((total - done) * passed / done, 1) if done else None
        self.job = self.journal.save_job(replace(self.job, progress=told))

    def say(self, message: str) -> None:
        """What it waits for."""
        self.job = self.journal.save_job(replace(self.job, message=message))


def _is_done_elsewhere(job: Job) -> bool:
    """Whether another service on this machine is at it."""
    host, _, process = job.begun_by.partition(" ")
    if host != _HOST or not process.isdecimal() or int(process) == os.getpid():
        return False
    with suppress(ProcessLookupError, OverflowError):
        os.kill(int(process), 0)
        return True
    return False


def _reindex(library: AnyLibrary, options: Mapping[str, Any], on_progress: OnProgress) -> str:
    """To another policy, or anew; else what an older pincite made is made again."""
    policy, fresh = options.get("policy"), bool(options.get("fresh"))
    if isinstance(library, Library):
        if policy is None and not fresh:
            report = library.index(on_progress=on_progress)
            return f"{report.recut} documents were made again, {report.unchanged} were up to date"
        moved = library.reindex(policy=policy, fresh=fresh, on_progress=on_progress)
    else:
        moved = library.reindex(policy=policy, on_progress=on_progress)
    return _MOVED.get(moved.outcome, moved.outcome)


def _index(library: AnyLibrary, options: Mapping[str, Any], on_progress: OnProgress) -> str:
    """A file that was handed in and is too large to be waited for."""
    if not isinstance(library, Library):
        raise SettingsError("files are handed in to a project at once")
    done = library.index_upload(str(options["path"]), on_progress=on_progress)
    return f"{done.status}: {done.document.id}"


_MOVED = {
    "already": "nothing had to be done",
    "switched": "searches use the new index",
    "incomplete": "some files could not be read now, so searches still use the old index",
}
_WORK: Mapping[str, Callable[[AnyLibrary, Mapping[str, Any], OnProgress], str]] = {
    "reindex": _reindex,
    "index": _index,
}
