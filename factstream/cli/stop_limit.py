"""The end of a process that does not end."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading

STUCK = 70
"""The exit code of a process that had to be ended (EX_SOFTWARE of sysexits.h)."""

log = logging.getLogger(__name__)


class StopLimit:
    """Ends the process hard when it has not ended within `seconds` of `begin`, saying where every thread stands.

    Whatever a library waits for, an operator's stop is a stop. What was not acknowledged by then is read again.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Starts the clock; a second call changes nothing."""
        if self._timer is None:
            self._timer = threading.Timer(self._seconds, self._end)
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        log.error("not stopped within %g s, ended; what was not acknowledged is read again", self._seconds)
        faulthandler.dump_traceback(sys.__stderr__ or 2, all_threads=True)
        logging.shutdown()
        os._exit(STUCK)
