"""The speed of the machine while something else is measured: the CPU time of one fixed piece of work, over and over.

The speed of a shared machine changes from minute to minute, and with it every figure that is bound by a processor, however well it was
measured. The work is that of nginx in `bench/search/nginx.toml`: zlib compresses the same page at the same level.
"""

import statistics
import threading
import time
import zlib

PAGE = "".join(f"{number}\n" for number in range(1, 7001)).encode()
LEVEL = 1
# One piece takes about half a millisecond, so that the measurement takes 2 % of a core.
PAUSE_SEC = 0.025


class Speed:
    """A thread that works for as long as the `with` block lasts."""

    def __enter__(self):
        self._costs = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()

    def _work(self):
        while not self._ends.wait(PAUSE_SEC):
            began = time.thread_time()
            zlib.compress(PAGE, LEVEL)
            self._costs.append(time.thread_time() - began)

    @property
    def microseconds(self):
        """Returns the mean CPU time of one piece of work, because a server's capacity follows the mean."""
        return statistics.fmean(self._costs) * 1e6
