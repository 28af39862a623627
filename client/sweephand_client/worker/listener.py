"""Takes deliveries by HTTP. Only a request that a secret of the namespace has signed runs a command."""

import re
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

from sweephand_client.http.errors import InputError, SweephandError
from sweephand_client.receive.run import Run, UnreadableError, run_of_request
from sweephand_client.receive.signatures import Secrets, SignatureError, verify
from sweephand_client.worker.heart import Nothing
from sweephand_client.worker.worker import Worker

#: `data` is 256 KB at most, and a CloudEvent writes it anew.
_BODY_BYTES_MAX: Final = 2 * 1_024 * 1_024
#: More deliveries than this are sent to another worker, or again later.
_IN_HAND_MAX: Final = 1_000
_CONNECTIONS_MAX: Final = 256
_AGAIN_S: Final = 30
#: A client that says nothing for so long has gone.
_READ_S: Final = 30
#: No request waits longer for its answer (docs/targets/http.md, `timeout`).
_ANSWER_S: Final = 60
_TOO_LONG: Final = f'no request waits longer than {_ANSWER_S} s: give the job "completion": "async"'
_LENGTH: Final = re.compile("[0-9]{1,9}")


class Answer(NamedTuple):
    """What a request is answered, with a sentence."""

    status: HTTPStatus
    text: str = ""


class Listener(ThreadingHTTPServer):
    """The intake at an address. InputError if it cannot be used."""

    daemon_threads = True
    block_on_close = False
    # Jobs of a crontab come due at once. With the default of five, the kernel would refuse the rest.
    request_queue_size = 1_024

    def __init__(self, host: str, port: int, worker: Worker, secrets: Secrets) -> None:
        self.worker = worker
        self._secrets = secrets
        self._free = threading.BoundedSemaphore(_CONNECTIONS_MAX)
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(f"Nothing can listen at {host}:{port}: {error}. Give another address.") from None

    @property
    def url(self) -> str:
        """The address of the intake."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}"

    def run(self) -> None:
        """Take deliveries until the worker stops."""
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()
        self.worker.is_stopping.wait()
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread. More of them than there may be are closed."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """As that of the base, which makes a thread of it."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection has broken."""

    def answer(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """Take a delivery. The names of the headers are in lower case."""
        run = self._run_of(headers, body)
        if isinstance(run, Answer):
            return run
        if (refusal := self.worker.refusal(run)) is not None:
            return Answer(HTTPStatus.UNPROCESSABLE_ENTITY, refusal)
        if self.worker.is_stopping.is_set() or self.worker.count >= _IN_HAND_MAX:
            return Answer(HTTPStatus.SERVICE_UNAVAILABLE, "This worker has no room. Try again later.")
        if run.token is None:
            return self._answer_by_end(run, body)
        self.worker.take(run, body, Nothing())
        return Answer(HTTPStatus.ACCEPTED)

    def _run_of(self, headers: Mapping[str, str], body: bytes) -> Run | Answer:
        """The run of a request that is signed, or why it is refused."""
        try:
            verify(self._secrets, headers, body, time.time())
            return run_of_request(headers, body)
        except SignatureError as error:
            return Answer(HTTPStatus.UNAUTHORIZED, str(error))
        except UnreadableError as error:
            return Answer(HTTPStatus.BAD_REQUEST, str(error))
        except SweephandError as error:
            return Answer(HTTPStatus.SERVICE_UNAVAILABLE, f"The secrets cannot be read: {error}")

    def _answer_by_end(self, run: Run, body: bytes) -> Answer:
        """Run the command now, and answer by its end."""
        work = self.worker.begun(run, body, Nothing())
        if work is None:
            return Answer(HTTPStatus.SERVICE_UNAVAILABLE, "This attempt is being worked on.")
        late = threading.Timer(_ANSWER_S, work.stop, (_TOO_LONG,))
        late.daemon = True
        late.start()
        end = self.worker.carry_out(work)
        late.cancel()
        if end is None:
            return Answer(HTTPStatus.INTERNAL_SERVER_ERROR, "The worker could not run the command.")
        status = HTTPStatus.OK if end.is_done else HTTPStatus.INTERNAL_SERVER_ERROR
        return Answer(status, end.text if end.is_done else end.reason)


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    protocol_version = "HTTP/1.1"
    timeout = _READ_S

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not _LENGTH.fullmatch(length) or int(length) > _BODY_BYTES_MAX:
            self.close_connection = True
            self._send(Answer(HTTPStatus.BAD_REQUEST, f"Give a content-length up to {_BODY_BYTES_MAX}."))
            return
        body = self.rfile.read(int(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.answer(headers, body))

    do_PUT = do_PATCH = do_POST  # noqa: N815 - http.server's names

    def _send(self, answer: Answer) -> None:
        if answer.status not in (HTTPStatus.OK, HTTPStatus.ACCEPTED):
            self.server.worker.shared.say(f"answers {self.client_address[0]} {answer.status}: {answer.text}")
        text = answer.text.encode()
        self.send_response(answer.status)
        if answer.status == HTTPStatus.SERVICE_UNAVAILABLE:
            self.send_header("retry-after", str(_AGAIN_S))
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Nothing: the worker writes a line for each run."""
