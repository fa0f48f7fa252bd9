"""Language models behind services that speak the OpenAI protocol."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property

from pincite.errors import ModelInvalid, SettingsError
from pincite.models.service import Patience, Service
from pincite.models.tokens import encodable
from pincite.ports import Generator


def open_generator(
    spec: str,
    *,
    base_url: str | None,
    api_key: str | None,
    patience: Patience = Patience(),
) -> Generator:
    """The language model a user names as `openai:MODEL`."""
    kind, _, model = spec.partition(":")
    if kind != "openai" or not model:
        raise SettingsError(f"unknown language model {spec!r}; give openai:MODEL")
    return RemoteGenerator(model=model, base_url=base_url, api_key=api_key, patience=patience)


@dataclass(frozen=True, kw_only=True)
class RemoteGenerator:
    """One language model of one service."""

    model: str
    base_url: str | None = field(default=None, repr=False)  # may carry a password
    api_key: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        _ = self._service  # refuses a bad address or key at once

    @cached_property
    def _service(self) -> Service:
        return Service(base_url=self.base_url, api_key=self.api_key, patience=self.patience)

    def generate(self, instruction: str, text: str, *, most_tokens: int) -> str:
        """What the model makes of the text, with as little left to chance as it allows."""
        reply = self._service.ask(
            lambda client: client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": instruction},
                    {"role": "user", "content": encodable(text)},
                ],
                max_tokens=most_tokens,
                temperature=0,
                seed=0,
            ),
            task=f"write with {self.model}",
        )
        return _content(reply, self._service.host)


def _content(reply: bytes, host: str) -> str:
    """The words of the first choice; anything else that a service may send is refused."""
    try:
        content = json.loads(reply)["choices"][0]["message"]["content"]
    except (ValueError, RecursionError, LookupError, TypeError):
        raise ModelInvalid(
            f"{host} answered with something other than a message; check the base URL"
        ) from None
    if not isinstance(content, str) or not content.strip():
        raise ModelInvalid(f"{host} answered with an empty message")
    return content
