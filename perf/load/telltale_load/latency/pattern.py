# SPDX-License-Identifier: Apache-2.0
"""The trouble of a pattern that backtracks without end, against controls that a plugin makes at run time.

Asked over the control socket from here: to start a process ten times a second, as ttctl would, delays the requests on
two cores more than what is measured.
"""
import time

from .. import Failed
from ..figures import OFF, OFF_AGAIN
from .figures import HARMLESS, TROUBLED, Fact
from .trouble import Trouble

COSTLY_PATTERN = "(a+)+$"
HARMLESS_PATTERN = "^nomatch$"
CONTROLS = 500
TAG = "a" * 30 + "!"  # and a number behind: no tag's verdict is another's
_PAUSE_S = 0.1


class Pattern(Trouble):
    name, words = "pattern", f"'{COSTLY_PATTERN}' is enabled again and again, against {CONTROLS} controls like {TAG}1"
    variants = (OFF, OFF_AGAIN, HARMLESS, TROUBLED)

    def open(self, ending):
        self._pattern = None
        self.start_daemon(ending, plugins=f"{self.build / 'perf' / 'many_controls.so'} {CONTROLS} {TAG}\n")
        made = sum(tag["tag"].startswith(TAG) for tag in self.telltale.ctl("debug", "tags")["tags"])
        assert made == CONTROLS, f"the plugin made {made} controls"

    def begin(self, variant):
        self._pattern = COSTLY_PATTERN if variant == TROUBLED else HARMLESS_PATTERN

    def meanwhile(self, over):
        while not over.is_set():
            before = time.monotonic()
            status = self.telltale.enable_over_socket(self._pattern)
            self.answers.append(time.monotonic() - before)
            if status not in (200, 422):  # done, or refused
                raise Failed(f"enabling {self._pattern} was answered with status {status}")
            over.wait(_PAUSE_S)

    def end(self):
        """The answer after all of them, and an ordinary pattern's."""
        self.telltale.debug_off()
        on = self.telltale.debug_on("http$")
        self.telltale.debug_off()
        return [Fact(self.name, "an ordinary pattern works afterwards", on == ["http"], f"it turned on {' '.join(on)}")]
