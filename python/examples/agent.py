"""An agent with a sandbox, offline: a scripted model writes a script, runs it and reads the result.

    pip install deepagents ./python
    python python/examples/agent.py

Pass a real model to ``create_deep_agent`` instead, and it decides on its own.
"""

from collections.abc import Iterator

from deepagents import create_deep_agent
from isopod.deepagents import IsopodSandbox
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage

SCRIPT = """\
import json, statistics
samples = [2, 3, 5, 7, 11, 13]
with open("/workspace/result.json", "w") as file:
    json.dump({"mean": statistics.mean(samples), "largest": max(samples)}, file)
print("done")
"""


class ScriptedModel(GenericFakeChatModel):
    """A model that follows a script and ignores its input."""

    def bind_tools(self, tools: object, **kwargs: object) -> "ScriptedModel":  # type: ignore[override]
        return self


def step(number: int, tool: str, **arguments: str) -> AIMessage:
    """Return a message in which the model calls a tool."""
    return AIMessage("", tool_calls=[{"id": f"call-{number}", "name": tool, "args": arguments}])


def script() -> Iterator[AIMessage]:
    yield step(1, "write_file", file_path="/workspace/analyse.py", content=SCRIPT)
    yield step(2, "execute", command="python3 analyse.py && ls")
    yield step(3, "read_file", file_path="/workspace/result.json")
    yield AIMessage("The mean is 6.83, the largest is 13.")


def main() -> list[BaseMessage]:
    backend = IsopodSandbox()
    agent = create_deep_agent(model=ScriptedModel(messages=script()), backend=backend)
    state = agent.invoke({"messages": [{"role": "user", "content": "Analyse the samples."}]})
    backend.close()
    messages: list[BaseMessage] = state["messages"]
    for message in messages:
        print(f"{message.type:>5}: {message.text or [call['name'] for call in getattr(message, 'tool_calls', [])]}")
    return messages


if __name__ == "__main__":
    main()
