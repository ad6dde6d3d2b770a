"""The bar that ``progress=True`` draws: tqdm's where it is installed, else a line on stderr."""

import functools
import sys
import time
import warnings


@functools.cache
def _tqdm():
    """The class of tqdm's bars; ``None`` if it is not installed."""
    try:
        # Once: each change of the filters makes Python forget which warnings it has shown.
        with warnings.catch_warnings():
            # tqdm.auto chooses a bar for the notebook, and falls back to one of text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


class Bar:
    """Shows the progress of a run, one stage after the other."""

    def __init__(self):
        self._tqdm = _tqdm()
        self._bar = None
        self._stage = None
        self._done = self._total = 0
        self._shown = 0.0

    def __call__(self, stage, done, total):
        if stage != self._stage:
            # A stage begins when the one before it is complete, whatever was reported last.
            self.complete()
            self.close()
            if self._tqdm is not None:
                self._bar = self._tqdm(total=total or None, desc=stage, unit_scale=True)
            self._stage, self._shown = stage, 0.0
        self._done, self._total = done, total
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
        elif time.monotonic() - self._shown >= 0.1:
            self._draw_line()

    def _draw_line(self):
        self._shown = time.monotonic()
        share = f" {100 * self._done / self._total:3.0f} %" if self._total else ""
        sys.stderr.write(f"\r{self._stage}{share}")
        sys.stderr.flush()

    def complete(self):
        """Draws the stage as complete: all went well."""
        self._done = max(self._done, self._total)
        if self._bar is not None:
            self._bar.update(self._done - self._bar.n)

    def close(self):
        """Ends the bar, which shows how far the stage went."""
        if self._bar is not None:
            self._bar.close()
        elif self._stage is not None:
            self._draw_line()
            sys.stderr.write("\n")
        self._bar = self._stage = None
