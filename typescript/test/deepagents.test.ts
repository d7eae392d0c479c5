/** The backend with the real `deepagents`: compared with its `BaseSandbox` over plain commands, and in an agent. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { BaseSandbox, createDeepAgent, isSandboxBackend, type SandboxBackendProtocolV2 } from "deepagents";

import { IsopodBackend } from "../src/index.js";
import { serve } from "./server.js";

const { isopod } = await serve();

/** The framework's own sandbox, which uses shell commands for everything. */
class Plain extends BaseSandbox {
  readonly id: string;

  constructor(private readonly backend: IsopodBackend) {
    super();
    this.id = backend.id;
  }

  override execute(command: string) {
    return this.backend.execute(command);
  }

  override uploadFiles(files: [string, Uint8Array][]) {
    return this.backend.uploadFiles(files);
  }

  override downloadFiles(paths: string[]) {
    return this.backend.downloadFiles(paths);
  }
}

/** Returns an answer without times and sizes, in a fixed order. */
function settled(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value) => {
    if (key === "modified_at" || key === "created_at") return "T";
    if (key === "is_dir" || key === "truncated" || key === "filesUpdate") return value || undefined;
    if (key === "size") return undefined;
    if ((key === "files" || key === "matches") && Array.isArray(value)) {
      return [...value].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    }
    return value;
  });
}

const FILES: [string, string][] = [
  ["/workspace/a.txt", "one\ntwo\nthree\n"],
  ["/workspace/no-end", "x\ny"],
  ["/workspace/empty", ""],
  ["/workspace/.hidden", "two\n"],
  ["/workspace/src/main.py", "print('two')\n"],
  ["/workspace/src/deep/er/x.py", "pass\n"],
  ["/workspace/a name with spaces.md", "# two\n"],
];

/** Calls with the same answers of both, in this order. */
const CALLS: [keyof IsopodBackend & keyof Plain, ...unknown[]][] = [
  ["ls", "/workspace"],
  ["ls", "/workspace/src"],
  ["ls", "/none"],
  ["read", "/workspace/a.txt"],
  ["read", "/workspace/a.txt", 1, 1],
  ["read", "/workspace/a.txt", 2, 100],
  ["read", "/workspace/a.txt", 3],
  ["read", "/workspace/a.txt", 99],
  ["read", "/workspace/a.txt", -5, 2],
  ["read", "/workspace/a.txt", 0, 0],
  ["read", "/workspace/no-end"],
  ["read", "/workspace/empty"],
  ["read", "/workspace"],
  ["read", "/none"],
  ["read", "/none.png"],
  ["readRaw", "/workspace/a.txt"],
  ["readRaw", "/none"],
  ["glob", "*.py", "/workspace"],
  ["glob", "**/*.py", "/workspace"],
  ["glob", "*", "/workspace"],
  ["glob", "src/*", "/workspace"],
  ["glob", "src/**", "/workspace"],
  ["glob", "?.txt", "/workspace"],
  ["glob", "[a-b].txt", "/workspace"],
  ["glob", "*", "/none"],
  ["grep", "two", "/workspace"],
  ["grep", "two", "/workspace", "*.py"],
  ["grep", "(", "/workspace"],
  ["grep", "two", "/none"],
  ["grep", "two", "/workspace", null, 100],
  ["write", "/workspace/new/file.txt", "hello ✓\n"],
  ["write", "/workspace/new/file.txt", "again\n"],
  ["write", "relative", "x"],
  ["write", "/workspace/src", "x"],
  ["write", "/workspace/pixel.png", "iVBORw0KGgo="],
  ["read", "/workspace/pixel.png"],
  ["edit", "/workspace/a.txt", "two", "TWO"],
  ["edit", "/workspace/a.txt", "none", "x"],
  ["edit", "/workspace/a.txt", "", "x"],
  ["edit", "/workspace/a.txt", "e", "E"],
  ["edit", "/workspace/a.txt", "e", "E", true],
  ["edit", "/workspace/empty", "", "filled"],
  ["edit", "/none", "a", "b"],
  ["read", "/workspace/a.txt"],
  ["delete", "/workspace/src"],
  ["delete", "/workspace/src"],
  ["ls", "/workspace"],
];

test("it answers as the framework's own sandbox does over commands", async () => {
  const [ours, theirs] = await Promise.all([isopod.create(), isopod.create()]);
  const native = new IsopodBackend(ours);
  const plain = new Plain(new IsopodBackend(theirs));
  for (const backend of [native, plain]) {
    await backend.uploadFiles(FILES.map(([path, content]) => [path, new TextEncoder().encode(content)]));
  }
  let count = 0;
  for (const [name, ...args] of CALLS) {
    const call = async (backend: object) => {
      const method = (backend as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
      return settled(await method?.apply(backend, args));
    };
    assert.deepEqual(await call(native), await call(plain), `${name}(${JSON.stringify(args)})`);
    count += 1;
  }
  console.log(`${count} calls, answered alike`);
});

test("what the framework asks of a sandbox beside that", async () => {
  const backend = new IsopodBackend(await isopod.create());
  // Both the compiler and the framework check the interface.
  const protocol: SandboxBackendProtocolV2 = backend;
  assert.ok(isSandboxBackend(protocol));
  assert.deepEqual(await backend.execute("echo out; echo err >&2; exit 3"), { output: "out\nerr\n", exitCode: 3, truncated: false });
  assert.deepEqual(await backend.execute(" "), { output: "Error: the command is empty", exitCode: 1, truncated: false });
  const long = await backend.execute("head -c 600000 /dev/zero | tr '\\0' x");
  assert.deepEqual([long.output.length, long.truncated], [600_000, false]);
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
  assert.deepEqual(await backend.uploadFiles([["/workspace/b", bytes], ["x", bytes], ["/bin", bytes]]), [
    { path: "/workspace/b", error: null },
    { path: "x", error: "invalid_path" },
    { path: "/bin", error: "is_directory" },
  ]);
  const [down, none, directory] = await backend.downloadFiles(["/workspace/b", "/none", "/workspace"]);
  assert.deepEqual(Buffer.from(down?.content ?? []), Buffer.from(bytes));
  assert.deepEqual([none?.error, directory?.error], ["file_not_found", "is_directory"]);
  const cut = await backend.grep("", "/workspace", null, 1);
  assert.ok((cut.matches?.length ?? 0) <= 1);
  // A deleted sandbox is an error and not an empty directory.
  await backend.sandbox.delete();
  await assert.rejects(backend.ls("/workspace"), { status: 404, kind: "not_found" });
});

/** A model that answers with the messages of a script. */
class Scripted extends BaseChatModel {
  #at = 0;

  constructor(private readonly script: AIMessage[]) {
    super({});
  }

  override _llmType() {
    return "scripted";
  }

  override bindTools() {
    return this;
  }

  override async _generate(_: BaseMessage[]): Promise<ChatResult> {
    const message = this.script[this.#at++] ?? new AIMessage("done");
    return { generations: [{ message, text: String(message.content) }] };
  }
}

test("an agent writes a script, runs it and reads the result", async () => {
  const backend = new IsopodBackend(await isopod.create());
  const step = (id: string, name: string, args: object) => new AIMessage({ content: "", tool_calls: [{ id, name, args: { ...args } }] });
  const model = new Scripted([
    step("1", "write_file", { file_path: "/workspace/sum.sh", content: "seq 1 100 | paste -sd+ | bc > result\n" }),
    step("2", "execute", { command: "sh sum.sh && echo ran" }),
    step("3", "read_file", { file_path: "/workspace/result" }),
    new AIMessage("The sum is 5050."),
  ]);
  const agent = createDeepAgent({ model, backend });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Add the numbers from 1 to 100." }] });
  const said = (messages as BaseMessage[]).map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
  assert.ok(said.some((text) => text.includes("ran")), said.join("\n"));
  assert.ok(said.some((text) => /5050/.test(text) && !text.includes("The sum")), said.join("\n"));
  assert.equal(said.at(-1), "The sum is 5050.");
});
