"""A provider of sandboxes for Deep Agents Code, found by its entry point: ``dcode --sandbox isopod``."""

from __future__ import annotations

from typing import Any

from deepagents_code.integrations.sandbox_provider import (
    SandboxError,
    SandboxNotFoundError,
    SandboxProvider,
    SandboxProviderMetadata,
)

from isopod import errors
from isopod.deepagents import AGENT_LIMITS, IsopodSandbox
from isopod.provider import Provider

__all__ = ["IsopodProvider"]


class IsopodProvider(SandboxProvider):
    """Sandboxes that last: the same id finds the same files in ``/workspace`` again.

    ``ISOPOD_ROOT`` sets their directory; ``isopod.Provider`` lists the other variables.
    """

    def __init__(self, provider: Provider | None = None) -> None:
        """Wrap a provider. Without one, the default provider is opened on first use."""
        self._provider = provider

    @property
    def metadata(self) -> SandboxProviderMetadata:
        """The facts that are known without a sandbox."""
        return SandboxProviderMetadata(name="isopod", working_dir="/workspace")

    @property
    def provider(self) -> Provider:
        """The provider behind it."""
        if self._provider is None:
            self._provider = Provider(limits=AGENT_LIMITS)
        return self._provider

    def get_or_create(self, *, sandbox_id: str | None = None, **kwargs: Any) -> IsopodSandbox:
        """Lease the sandbox of an id, which must exist, or a new one."""
        if kwargs:
            raise TypeError(f"isopod takes no such parameters: {', '.join(kwargs)}")
        try:
            return IsopodSandbox(self.provider.get_or_create(sandbox_id))
        except errors.SandboxNotFoundError as error:
            raise SandboxNotFoundError(str(error)) from error
        except errors.Error as error:
            raise SandboxError(str(error)) from error

    def delete(self, *, sandbox_id: str, **kwargs: Any) -> None:
        """Delete a sandbox with its files. A missing one is no error."""
        try:
            self.provider.delete(sandbox_id)
        except errors.Error as error:
            raise SandboxError(str(error)) from error
