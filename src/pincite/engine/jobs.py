"""Long work of a service, one job after another, as the journal has them.

The journal is the queue. Of several services for the same library the first one does the jobs, to
whichever they were given; when it ends or is killed, another one goes on with what is left. An
index run goes on where it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from threading import Event, Lock, Thread
from typing import Any

from pincite.engine.library import Library
from pincite.engine.project import Project
from pincite.engine.serving import Access, AnyLibrary, Libraries, library_of, project_of
from pincite.errors import LibraryBusy, PinciteError, SettingsError, StoreBusy
from pincite.records import Progress
from pincite.records.journal import Job, JobState
from pincite.stores.journal import Journal, new_id

_SECONDS_BETWEEN_NOTES = 0.5
_SECONDS_BETWEEN_LOOKS = 2.0  # for jobs of other services, and for those who are in the way
_KEPT_SECONDS = 30 * 24 * 3600  # of a job that is over
_MOST_ATTEMPTS = 3  # at a job in whose midst the service was killed

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
        self._changing = Lock()  # held while a job is begun, ended or cancelled
        self._doing: Job | None = None  # that this service is at
        self._noted: set[str] = set()  # libraries whose journal may hold jobs that are left
        self._cancelled = Event()  # that job
        self._stopping = Event()
        self._woken = Event()
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Do what is left, and forget what was over long ago."""
        for journal in self._libraries.journals():
            journal.forget_jobs(before=time.time() - _KEPT_SECONDS)
        self._thread.start()

    def submit(
        self, library: AnyLibrary, name: str, kind: str, options: Mapping[str, Any], access: Access
    ) -> Job:
        """Note a job, which is done when its turn comes."""
        now = time.time()
        user = access.user if isinstance(library, Project) else ""
        project = project_of(library)
        job = Job(
            new_id(now), name, kind, user, access.key_id, options, made_at=now, project=project
        )
        library.journal.save_job(job)
        self._noted.add(name)
        self._woken.set()
        return job

    def at(self, library: AnyLibrary, name: str) -> Job | None:
        """The job that is being done in a library."""
        job = self._doing
        if job is None or job.project != project_of(library):
            return None
        return job if job.project or job.library == name else None

    def files_left(self, library: AnyLibrary, name: str) -> int:
        """How many files wait to be indexed; only where there were any is the journal asked."""
        if name not in self._noted:
            return 0
        self._noted.discard(name)  # first: one that comes meanwhile is noted again
        project = project_of(library)
        jobs = [
            one
            for one in library.journal.jobs(left=True)
            if one.library == name and one.project == project
        ]
        if jobs:
            self._noted.add(name)
        return sum(one.kind == "index" for one in jobs)

    def cancel(self, library: AnyLibrary, job: Job) -> Job:
        """Stop a job at its next step; one that is over stays as it is."""
        with self._changing:
            job = library.journal.job(job.id) or job
            if job.is_over:
                return job
            if self._doing is not None and job.id == self._doing.id:
                self._cancelled.set()
                job = replace(job, state="cancelled", message="cancelled")
            else:  # another service that is at it reads so in the journal
                job = _taken_back(library, job)
            return library.journal.save_job(job)

    def close(self) -> None:
        """Stop at the next step; what is not done goes on when a service starts again."""
        self._stopping.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        told = ""
        while not self._stopping.is_set():
            self._woken.clear()
            done = False
            try:
                for journal, job in self._libraries.jobs():
                    self._noted.add(job.library)
                    done |= self._do(journal, job.id)
            except Exception as error:  # noqa: BLE001 — of a database, say, that may answer again
                if repr(error) != told:
                    _log.exception("jobs have to wait")
                told = repr(error)
            if not done:
                self._woken.wait(_SECONDS_BETWEEN_LOOKS)

    def _do(self, journal: Journal, job_id: str) -> bool:
        """Do a job, unless it is over by now; False where it has to wait."""
        job = self._begun(journal, job_id)
        if job is None:
            return False
        library: AnyLibrary | None = None
        progress = _JobProgress(journal, job, self._check)
        state: JobState = "failed"
        try:
            if job.attempts > _MOST_ATTEMPTS:
                message = f"the service ended {_MOST_ATTEMPTS} times while it did this"
            else:
                library = library_of(self._libraries, job)
                self._check()
                message = _WORK[job.kind](library, job.options, progress.note)
                state = "done"
        except _Cancelled:
            state, message = "cancelled", ""
        except _Stopped:
            state, message = "waiting", "the service was stopped; the next one goes on"
        except (LibraryBusy, StoreBusy) as busy:  # those of others need not wait for it
            state, message = "waiting", f"waiting: {busy}"
        except PinciteError as error:
            message = str(error)
        except Exception:  # noqa: BLE001 — told in the log; the next job may work
            _log.exception("job %s", job.id)
            message = "internal error; see the log of the service"
        attempts = job.attempts - (state == "waiting")
        job = replace(progress.job, state=state, message=message, attempts=attempts)
        self._end(journal, job, library)
        return state != "waiting"

    def _begun(self, journal: Journal, job_id: str) -> Job | None:
        """The job, noted as running; None where it is over by now, or its journal is locked."""
        with self._changing, suppress(PinciteError):
            job = journal.job(job_id)
            if job is not None and not job.is_over and not self._stopping.is_set():
                job = replace(job, state="running", message="", attempts=job.attempts + 1)
                journal.save_job(job)
                self._doing = job
                self._cancelled.clear()
                return job
        return None

    def _end(self, journal: Journal, job: Job, library: AnyLibrary | None) -> None:
        """Note what came of a job, however long its journal is locked: it would be done again."""
        while True:
            with self._changing, suppress(PinciteError):
                stored = journal.job(job.id)  # another service may have been told to cancel it
                is_cancelled = stored is not None and stored.state == "cancelled"
                is_unwanted = (self._cancelled.is_set() or is_cancelled) and job.state != "done"
                if library is not None and (is_unwanted or job.state == "cancelled"):
                    job = _taken_back(library, job)
                elif is_unwanted:
                    job = replace(job, state="cancelled", message="cancelled")
                journal.save_job(job)
                self._doing = None
                return
            if self._stopping.wait(_SECONDS_BETWEEN_LOOKS):
                return

    def _check(self) -> None:
        if self._stopping.is_set():
            raise _Stopped
        if self._cancelled.is_set():
            raise _Cancelled


@dataclass
class _JobProgress:
    """Notes in the journal how far a job is, now and then."""

    journal: Journal
    job: Job
    check: Callable[[], None]
    began: float = 0.0
    noted: float = 0.0

    def note(self, progress: Progress) -> None:
        """Also the moment at which a job can be stopped: between two steps."""
        self.check()
        now = time.monotonic()
        self.began = self.began or now
        is_last = progress.documents_done == progress.documents_total
        if now - self.noted < _SECONDS_BETWEEN_NOTES and not is_last:
            return
        windows = progress.windows_total > 0
        done = progress.windows_done if windows else progress.bytes_done
        total = progress.windows_total if windows else progress.bytes_total
        passed = max(now - self.began, 0.001)
        told = {name: value for name, value in asdict(progress).items() if name != "note"}
        if windows:  # of one large file, too, it is told how much of it is done
            told["bytes_done"] = progress.bytes_total * done // total
        told["bytes_per_second"] = round(told["bytes_done"] / passed)
        told["seconds_left"] = round((total - done) * passed / done, 1) if done else None
        with suppress(PinciteError):  # a journal that is locked does not stop the work
            stored = self.journal.job(self.job.id)
            if stored is not None and stored.state == "cancelled":
                raise _Cancelled
            self.job = self.journal.save_job(replace(self.job, progress=told))
        self.noted = time.monotonic()  # also of a note that was tried in vain, for a second or two


def _taken_back(library: AnyLibrary, job: Job) -> Job:
    """The job as cancelled. Its file goes, or the folder's next update would index it."""
    message = "cancelled"
    if isinstance(library, Library) and job.options.get("is_new"):
        try:
            library.take_back_upload(str(job.options["path"]))
        except PinciteError as error:
            message = f"cancelled, but the file is still there: {error}"
    return replace(job, state="cancelled", message=message)


def _reindex(library: AnyLibrary, options: Mapping[str, Any], on_progress: OnProgress) -> str:
    """To another policy, or anew; else what an older pincite made is made again."""
    policy, fresh = options.get("policy"), bool(options.get("fresh"))
    if isinstance(library, Library) and policy is None and not fresh:
        report = library.index(on_progress=on_progress)
        return f"{report.recut} documents were made again, {report.unchanged} were up to date"
    moved = library.reindex(policy=policy, fresh=fresh, on_progress=on_progress)
    return _MOVED.get(moved.outcome, moved.outcome)


def _index(library: AnyLibrary, options: Mapping[str, Any], on_progress: OnProgress) -> str:
    """A file that was handed in and is too large to be waited for."""
    if not isinstance(library, Library):
        raise SettingsError("files are handed in to a project at once")
    path, is_new = str(options["path"]), bool(options.get("is_new"))
    done = library.index_upload(path, is_new=is_new, on_progress=on_progress)
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
