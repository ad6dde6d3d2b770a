"""The bar that ``progress=True`` draws: tqdm's where it is installed, else a line on stderr."""

import sys
import time
import warnings


class Bar:
    """Shows the progress of a run, one stage after the other."""

    def __init__(self):
        try:
            with warnings.catch_warnings():
                # tqdm.auto chooses a bar for the notebook, and falls back to one of text.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm = tqdm
        self._bar = None
        self._stage = None
        self._shown = 0.0

    def __call__(self, stage, done, total):
        if self._tqdm is None:
            self._draw_line(stage, done, total)
            return
        if stage != self._stage:
            if self._bar is not None:
                self._bar.close()
            self._bar = self._tqdm(total=total or None, desc=stage, unit_scale=True)
            self._stage = stage
        self._bar.update(done - self._bar.n)

    def _draw_line(self, stage, done, total):
        now = time.monotonic()
        if stage == self._stage and now - self._shown < 0.1:
            return
        if self._stage not in (None, stage):
            sys.stderr.write("\n")
        self._stage, self._shown = stage, now
        share = f" {100 * done / total:3.0f} %" if total else ""
        sys.stderr.write(f"\r{stage}{share}")
        sys.stderr.flush()

    def close(self):
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()
        elif self._stage is not None:
            sys.stderr.write("\n")
