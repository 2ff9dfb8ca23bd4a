"""Post messages from one thread of the process, so that a slow broker never makes a request wait; look at queues."""

import logging
import queue
import threading

from celery import current_app

log = logging.getLogger(__name__)
Message = tuple[str, str, str]
CAPACITY = 50_000


class Postman:
    """A thread that posts messages in order; what it cannot post is re-sent from its row by the clock."""

    def __init__(self) -> None:
        self.messages: queue.Queue[Message] = queue.Queue(CAPACITY)
        self.thread: threading.Thread | None = None
        self.lock = threading.Lock()

    def put(self, message: Message) -> None:
        """Take a message; a full queue drops it, since the row remembers."""
        try:
            self.messages.put_nowait(message)
        except queue.Full:
            return
        if self.thread is None or not self.thread.is_alive():
            self._start()

    def _start(self) -> None:
        with self.lock:
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self._run, name="postman", daemon=True)
                self.thread.start()

    def _run(self) -> None:
        while True:
            task, where, key = self.messages.get()
            try:
                current_app.signature(task, [key]).apply_async(queue=where, retry=False)
            except Exception:
                log.warning("the broker does not take messages; rows are re-sent later")
            finally:
                self.messages.task_done()


postman = Postman()


def send(task: str, where: str, key: str) -> None:
    """Post the key of a row to a task by name."""
    postman.put((task, where, key))


def depth(where: str) -> int:
    """Count the messages that wait in a queue; 0 when there is no such queue yet."""
    with current_app.connection_for_read() as connection:
        channel = connection.default_channel
        try:
            return int(channel.queue_declare(where, passive=True).message_count)
        except channel.connection.channel_errors:
            return 0
