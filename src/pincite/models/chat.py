"""Language models behind services that speak the OpenAI protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pincite.errors import ModelInvalid, ModelUnavailable, SettingsError
from pincite.models.service import Patience, Service, ServiceModel
from pincite.models.tokens import encodable
from pincite.ports import Writer

# No tokenizer has tokens that are longer in the mean. A model that writes more ignores its limit.
_CHARACTERS_OF_A_TOKEN = 32
_LONGEST_LINE = 1 << 20  # bytes; a line holds a few words

# Why a message that ended is none, by what the service gives as its reason.
_CUT_SHORT = {
    "length": "stopped before it had finished, at its limit of tokens",
    "content_filter": "stopped: the service's filter did not let the text pass",
}


def open_generator(
    spec: str,
    *,
    base_url: str | None,
    api_key: str | None,
    patience: Patience = Patience(),
) -> Writer:
    """The language model a user names as `openai:MODEL`."""
    kind, _, model = spec.partition(":")
    if kind != "openai" or not model:
        raise SettingsError(f"unknown language model {spec!r}; give openai:MODEL")
    return RemoteGenerator(model=model, base_url=base_url, api_key=api_key, patience=patience)


@dataclass(frozen=True, kw_only=True)
class RemoteGenerator(ServiceModel):
    """One language model of one service."""

    temperature: float = 0.0

    @property
    def name(self) -> str:
        """The model and whose it is, never with a key."""
        return f"openai:{self.model} at {self._service.host}"

    def generate(self, instruction: str, text: str, *, most_tokens: int) -> str:
        """What the model makes of the text; cut off where it wants more tokens."""
        message = _Message(self._service, most_tokens)
        return "".join(self._pieces(message, instruction, text))

    def stream(self, instruction: str, text: str, *, most_tokens: int) -> Iterator[str]:
        """The pieces as they come; closing the iterator ends the request.

        Whatever goes wrong after the first piece is a ModelError when all that came was given,
        and so is a message that its limit cut off.
        """
        message = _Message(self._service, most_tokens)
        yield from self._pieces(message, instruction, text)
        if message.ended in _CUT_SHORT:
            raise ModelInvalid(f"{self._service.host} {_CUT_SHORT[message.ended]}")

    def _pieces(self, message: _Message, instruction: str, text: str) -> Iterator[str]:
        received = self._service.stream(
            lambda client: client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": encodable(instruction)},
                    {"role": "user", "content": encodable(text)},
                ],
                max_tokens=message.most_tokens,
                temperature=self.temperature,
                seed=0,  # as little left to chance as it allows
                stream=True,
                extra_headers={"Accept-Encoding": "identity"},
            ),
            task=f"write with {self.model}",
        )
        with closing(received):
            for line in _lines(received, self._service.host):
                yield from message.read(line)
                if message.is_done or message.ended:
                    break  # some services leave the connection open
        message.check_complete()


def _lines(received: Iterable[bytes], host: str) -> Iterator[bytearray]:
    """Whole lines, wherever the network cut them, and so whole letters."""
    waiting = bytearray()
    for piece in received:
        waiting += piece
        if len(waiting) > _LONGEST_LINE:
            raise ModelInvalid(f"{host} answered with something other than a stream")
        if b"\n" in piece:
            *whole, waiting = waiting.split(b"\n")
            yield from whole
    yield waiting


class _Message:
    """What has been read so far of the one message of a stream of server-sent events."""

    def __init__(self, service: Service, most_tokens: int) -> None:
        self._service = service
        self._host = service.host
        self.most_tokens = most_tokens
        self.is_done = False
        self.ended = ""  # why, as the service says
        self._is_stream = False
        self._declined = ""  # how, where it did something else than write
        self._is_thinking = False
        self._is_blank = True
        self._room = most_tokens * _CHARACTERS_OF_A_TOKEN
        self._half = ""  # the first half of a character beyond the basic plane

    def read(self, line: bytearray) -> Iterator[str]:
        """The text of one line; most have a few letters, some none."""
        name, _, value = line.strip().partition(b":")
        if name != b"data":
            return  # a comment that keeps the connection alive, or a field without text
        self._is_stream = True
        if value.strip() == b"[DONE]":
            self.is_done = True
            return
        text = self._half + self._text(value)
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = text.removesuffix(self._half)
        if not text:
            return
        self._room -= len(text)
        if self._room < 0:
            raise ModelInvalid(
                f"{self._host} wrote far more than the {self.most_tokens} tokens it was allowed"
            )
        self._is_blank = self._is_blank and text.isspace()
        # Joins the halves, and replaces what is half of nothing.
        yield text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def check_complete(self) -> None:
        """ModelError unless the message came to its end and has something in it."""
        if not self._is_stream:
            raise ModelInvalid(
                f"{self._host} answered with something other than a stream; check the base URL "
                "(it usually ends in /v1)"
            )
        if not (self.is_done or self.ended):
            raise ModelUnavailable(f"{self._host} broke off in the middle; try again")
        why = self._declined
        if self._is_blank and not why:
            why = _CUT_SHORT.get(self.ended, "answered with an empty message")
            if self._is_thinking:
                why = "only thought and wrote no answer; turn its thinking off"
        if why:
            raise ModelInvalid(f"{self._host} {why}")

    def _text(self, data: bytearray) -> str:
        """What the event adds to the first choice; whatever else services send is left out."""
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise ModelInvalid(
                f"{self._host} sent an event that is not JSON; check the base URL"
            ) from None
        if not isinstance(event, dict):
            raise ModelInvalid(f"{self._host} sent an event that is not an object")
        if event.get("error"):
            said = self._service.harmless(json.dumps(event["error"], ensure_ascii=False))
            raise ModelUnavailable(f"{self._host} failed in the middle; try again [{said}]")
        choice = _first_choice(event)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = {}
        self.ended = str(choice.get("finish_reason") or self.ended)
        if delta.get("refusal"):
            self._declined = "refused to write this; ask otherwise, or choose another model"
        if delta.get("tool_calls") or delta.get("function_call"):
            self._declined = "called a tool, though none was offered; choose another model"
        if delta.get("reasoning_content") or delta.get("reasoning"):
            self._is_thinking = True
        content = delta.get("content")
        if content is None:
            return ""
        if not isinstance(content, str):
            raise ModelInvalid(f"{self._host} sent something other than text")
        return content


def _first_choice(event: dict[str, Any]) -> dict[str, Any]:
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            return choice
    return {}
