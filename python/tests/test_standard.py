"""The public standard suite for sandboxes of Deep Agents, three times.

``TestLegacy`` and ``TestNative`` test Isopod's operations in the forms of 0.6 and of 0.7. ``TestPlain`` tests the
framework's operations: it overrides only the abstract methods, so listing, reading, editing and searching are the
framework's scripts for a shell and for Python, run in the sandbox.
"""

from collections.abc import Iterator

import isopod
import pytest
from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
from deepagents.backends.sandbox import BaseSandbox
from isopod.deepagents import AGENT_LIMITS, IsopodSandbox
from langchain_tests.integration_tests.sandboxes import SandboxIntegrationTests


class Plain(BaseSandbox):
    def __init__(self, sandbox: isopod.Sandbox) -> None:
        self._sandbox = sandbox
        self._transfer = IsopodSandbox(sandbox)

    @property
    def id(self) -> str:
        return self._sandbox.id

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        answer = self._sandbox.execute(command, timeout=timeout)
        return ExecuteResponse(answer.output, answer.exit_code, answer.truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return self._transfer.upload_files(files)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return self._transfer.download_files(paths)


class TestLegacy(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[BaseSandbox]:
        sandbox = IsopodSandbox(legacy=True)
        yield sandbox
        sandbox.close()


class TestNative(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[BaseSandbox]:
        sandbox = IsopodSandbox()
        yield sandbox
        sandbox.close()


class TestPlain(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[BaseSandbox]:
        with isopod.Sandbox(limits=AGENT_LIMITS) as sandbox:
            yield Plain(sandbox)
