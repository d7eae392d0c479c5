import assert from "node:assert/strict";
import { test } from "node:test";

import { ArtisanSandbox, Isopod, IsopodError, fromBase64, toBase64, type ExecuteEvent } from "../src/index.js";
import { serve } from "./server.js";

const { isopod, url } = await serve();

/** Asserts a refusal with this status and kind. */
async function refused(work: Promise<unknown>, status: number, kind: string): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof IsopodError, String(error));
    assert.deepEqual([error.status, error.kind], [status, kind]);
    assert.ok(error.requestId);
    return true;
  });
}

test("a wrong key is refused", async () => {
  await refused(new Isopod({ url, apiKey: "wrong-0123456789ab" }).create(), 401, "unauthorized");
});

test("sandboxes are made, found, listed, forked and deleted", async () => {
  const sandbox = await isopod.create({ thread: "t", user: "u", metadata: { a: "b" } });
  assert.equal((await isopod.create({ thread: "t", user: "u" })).id, sandbox.id);
  const info = await sandbox.info();
  assert.deepEqual([info.thread, info.user, info.metadata], ["t", "u", { a: "b" }]);
  const ids: string[] = [];
  for await (const one of isopod.list()) ids.push(one.id);
  assert.ok(ids.includes(sandbox.id));

  await sandbox.write("f", "before");
  const saved = await sandbox.snapshot();
  const fork = await sandbox.fork();
  await sandbox.write("f", "after");
  assert.equal(Buffer.from(await fork.download("f")).toString(), "before");
  assert.equal(Buffer.from(await (await isopod.load(saved)).download("f")).toString(), "before");
  await sandbox.release();
  await sandbox.delete();
  await refused(sandbox.info(), 404, "not_found");
});

test("a command that fails is an answer", async () => {
  const sandbox = await isopod.create();
  const answer = await sandbox.execute("cat; echo $X >&2; pwd; exit 3", { stdin: "in\n", env: { X: "1" }, cwd: "/tmp" });
  assert.deepEqual([answer.exit_code, answer.stdout, answer.stderr], [3, "in\n/tmp\n", "1\n"]);
  const bytes = await sandbox.execute("cat", { stdin: new Uint8Array([0, 255]) });
  assert.deepEqual([bytes.encoding, [...fromBase64(bytes.stdout)]], ["base64", [0, 255]]);
  const words = await sandbox.execute(["printf", "%s|", "a  b", "$HOME", "*", ""]);
  assert.deepEqual([words.stdout, words.usage.processes], ["a  b|$HOME|*||", 1]);
  const late = await sandbox.execute("sleep 9", { timeoutMs: 50 });
  assert.deepEqual([late.exit_code, late.timed_out, late.limits[0]?.limit], [124, true, "wall_clock"]);
  await refused(sandbox.execute(""), 422, "invalid_command");
  const aborted = sandbox.execute("sleep 100", { signal: AbortSignal.timeout(50) });
  await assert.rejects(aborted, { name: "TimeoutError" });
});

test("output comes as it is written, and who stops listening ends the command", async () => {
  const sandbox = await isopod.create();
  const events: ExecuteEvent[] = [];
  for await (const event of sandbox.stream("echo out; sleep 0.1; echo ✓ >&2; sleep 0.1; printf '\\377'; exit 2")) {
    events.push(event);
  }
  const shown = events.map((event) => (event.event === "exit" ? event.exit_code : [event.event, toBase64(event.bytes)]));
  assert.deepEqual(shown, [["stdout", "b3V0Cg=="], ["stderr", "4pyTCg=="], ["stdout", "/w=="], 2]);

  for await (const _ of sandbox.stream("echo x; while :; do echo >> beat; sleep 0.01; done")) break;
  const size = async () => (await sandbox.list(".")).entries.find((entry) => entry.name === "beat")?.size ?? 0;
  const end = Date.now() + 10_000;
  let [last, since] = [await size(), Date.now()];
  while (Date.now() - since < 300) {
    const now = await size();
    if (now !== last) [last, since] = [now, Date.now()];
    assert.ok(Date.now() < end, "the command runs on");
  }
});

test("a live shell keeps its state", async () => {
  const sandbox = await isopod.create();
  const session = await sandbox.session("main");
  await session.execute("cd /tmp; x=1");
  assert.equal((await session.execute("echo $PWD $x")).stdout, "/tmp 1\n");
  await session.interrupt();
  await session.close();
  await refused(session.execute("true"), 404, "not_found");
});

test("code-artisan's sandbox", async () => {
  const sandbox = new ArtisanSandbox(await isopod.create());
  await sandbox.writeFile("src/a.txt", "one\n");
  await sandbox.writeFile("src/a.txt", "two\n", { append: true });
  await sandbox.writeFile("src/deep/er/b.md", "(two)\n");
  assert.equal(await sandbox.readFile("src/a.txt"), "one\ntwo\n");
  assert.deepEqual(await sandbox.listDir("."), ["src/", "src/a.txt", "src/deep/"]);
  assert.deepEqual(await sandbox.glob("*.md", "."), ["src/deep/er/b.md"]);
  const lines = await sandbox.grep("(two)", "/workspace");
  assert.deepEqual(lines, [{ path: "/workspace/src/deep/er/b.md", line: 1, text: "(two)" }]);
  assert.deepEqual(await sandbox.grep("two", ".", "*.txt"), [{ path: "/workspace/src/a.txt", line: 2, text: "two" }]);
  assert.deepEqual(await sandbox.exec("echo out; echo err >&2; exit 5"), { stdout: "out\n", stderr: "err\n", exitCode: 5 });
  assert.equal((await sandbox.exec("sleep 9", { timeoutMs: 50 })).exitCode, 124);
  assert.equal((await sandbox.exec("pwd", { cwd: "/tmp" })).stdout, "/tmp\n");
  assert.deepEqual(await sandbox.exec(" "), { stdout: "", stderr: "the command is empty\n", exitCode: 126 });
  // A timeout above the limits of the server and of code-artisan is reduced, not refused.
  assert.equal((await sandbox.exec("true", { timeoutMs: 1e9 })).exitCode, 0);
  await refused(sandbox.readFile("none"), 404, "file_not_found");
});
