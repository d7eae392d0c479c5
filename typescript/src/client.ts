/** The client: a thin layer over the routes of `isopod serve`. docs/http.md describes them. */

import { fromBase64, toBase64, type Encoding } from "./bytes.js";

export interface IsopodOptions {
  /** Address of the server; http://127.0.0.1:7070 by default. */
  url?: string;
  /** The server's key, if it has one. */
  apiKey?: string;
  /** A function to use instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** The description of a sandbox. */
export interface SandboxInfo {
  id: string;
  state: "leased" | "warm" | "stored";
  thread: string | null;
  user: string | null;
  created_ms: number;
  last_used_ms: number;
  metadata: Record<string, string>;
  damage: string | null;
}

export interface NewSandbox {
  /** The conversation thread: the same thread gets the same sandbox. */
  thread?: string;
  /** The user of the thread. */
  user?: string;
  metadata?: Record<string, string>;
}

export interface ExecuteOptions {
  /** Timeout; the exit code is 124 if the command exceeds it. */
  timeoutMs?: number;
  cwd?: string;
  env?: Record<string, string>;
  /** Standard input of the command. */
  stdin?: string | Uint8Array;
  /** Maximum bytes of output in the result. */
  outputBytes?: number;
  /** Ends the command when it aborts. */
  signal?: AbortSignal;
}

/** A limit that a command hit. */
export interface LimitHit {
  limit: string;
  value: number;
  message: string;
}

/** The resources that a command used. */
export interface Usage {
  /** Milliseconds from start to end. */
  wall_ms: number;
  /** Processor time of all its processes, in milliseconds. */
  cpu_ms: number;
  peak_memory: number;
  processes: number;
  bytes_read: number;
  bytes_written: number;
  /** Executed instructions, if there was a budget. */
  fuel: number | null;
}

/** The result of a command. */
export interface Output {
  exit_code: number;
  stdout: string;
  stderr: string;
  /** Both, in the order of writing. */
  output: string;
  /** The encoding of the three texts: base64 if one of them is not UTF-8. */
  encoding: Encoding;
  /** True if the middle of the output was left out because there was too much. */
  truncated: boolean;
  timed_out: boolean;
  limits: LimitHit[];
  usage: Usage;
}

/** A command line for the shell, or a program with its arguments, without a shell. */
export type CommandLine = string | string[];

/** A piece of output as it arrives, or the result at the end. */
export type ExecuteEvent =
  | { event: "stdout" | "stderr"; bytes: Uint8Array }
  | { event: "exit"; exit_code: number; timed_out: boolean; limits: LimitHit[]; usage: Usage };

/** The reason why an answer is incomplete. */
export type Cut = "count" | "budget" | "unreadable" | "transport" | null;

export interface Entry {
  name: string;
  path: string;
  kind: "file" | "directory" | "symlink" | "special";
  size: number;
  modified_ms: number;
}

export interface Found {
  path: string;
  relative: string;
  kind: "file" | "directory";
  size: number;
  modified_ms: number;
}

export interface Line {
  path: string;
  line: number;
  text: string;
  before: string[];
  after: string[];
}

export interface Page {
  content: string;
  encoding: Encoding;
  offset: number | null;
  lines: number | null;
  total_lines: number | null;
  next_offset: number | null;
  is_cut: boolean;
}

export interface GlobOptions {
  path?: string;
  directories?: boolean;
  hidden?: boolean;
  limit?: number;
}

export interface GrepOptions {
  path?: string;
  literal?: boolean;
  ignore_case?: boolean;
  include?: string;
  before?: number;
  after?: number;
  limit?: number;
}

/** A refusal of the server. */
export class IsopodError extends Error {
  override name = "IsopodError";

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The kind of error: docs/http.md lists them all. */
    readonly kind: string,
    message: string,
    /** The id of the request in the server's log. */
    readonly requestId: string | null,
  ) {
    super(message);
  }
}

/** A server. */
export class Isopod {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;

  constructor(options: IsopodOptions = {}) {
    this.#url = (options.url ?? "http://127.0.0.1:7070").replace(/\/+$/, "");
    this.#headers = options.apiKey === undefined ? {} : { Authorization: `Bearer ${options.apiKey}` };
    this.#fetch = options.fetch ?? fetch;
  }

  /** Creates a sandbox, or finds the one of a thread. */
  async create(options: NewSandbox = {}): Promise<Sandbox> {
    const info = await this.json<SandboxInfo>("POST", "/v1/sandboxes", options);
    return new Sandbox(this, info.id);
  }

  /** Returns the sandbox of this id, without a request to the server. */
  sandbox(id: string): Sandbox {
    return new Sandbox(this, id);
  }

  /** Yields all sandboxes, in the order of their ids. */
  async *list(): AsyncGenerator<SandboxInfo> {
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `?cursor=${cursor}`;
      const page: { sandboxes: SandboxInfo[]; cursor: string | null } = await this.json("GET", `/v1/sandboxes${query}`);
      yield* page.sandboxes;
      cursor = page.cursor;
    } while (cursor !== null);
  }

  /** Creates a sandbox with the `/workspace` of a snapshot. */
  async load(snapshot: Uint8Array): Promise<Sandbox> {
    const response = await this.ask("POST", "/v1/sandboxes/load", { body: snapshot });
    return new Sandbox(this, ((await response.json()) as SandboxInfo).id);
  }

  /** Sends a request and returns the response. Throws an `IsopodError` for a refusal. */
  async ask(
    method: string,
    path: string,
    more: { body?: Uint8Array | string; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const { body, headers, signal } = more;
    const init: RequestInit = { method, headers: { ...this.#headers, ...headers }, redirect: "error" };
    if (body !== undefined) init.body = body as BodyInit;
    if (signal !== undefined) init.signal = signal;
    const response = await this.#fetch(this.#url + path, init);
    if (response.ok) return response;
    const text = await response.text();
    let error: { kind?: string; message?: string } = {};
    try {
      error = JSON.parse(text).error ?? {};
    } catch {
      // A proxy answered, in a format of its own.
    }
    const id = response.headers.get("x-request-id");
    throw new IsopodError(response.status, error.kind ?? "unknown", error.message ?? text, id);
  }

  /** Sends and receives JSON, otherwise as `ask`. */
  async json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const response = await this.ask(method, path, {
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
      ...(signal === undefined ? {} : { signal }),
    });
    return (response.status === 204 ? undefined : await response.json()) as T;
  }
}

/** The base of a sandbox and of a live shell, which both execute commands. */
class Executor {
  constructor(
    protected readonly server: Isopod,
    protected readonly base: string,
  ) {}

  /** Executes a command. A failed command is a result, not an error. */
  execute(command: CommandLine, options: ExecuteOptions = {}): Promise<Output> {
    return this.server.json("POST", `${this.base}/execute`, request(command, options), options.signal);
  }

  /** Executes a command and yields its output as it arrives. Ending the iteration ends the command. */
  async *stream(command: CommandLine, options: ExecuteOptions = {}): AsyncGenerator<ExecuteEvent> {
    const abort = new AbortController();
    const signal = options.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, options.signal]);
    try {
      const response = await this.server.ask("POST", `${this.base}/stream`, {
        body: JSON.stringify(request(command, options)),
        headers: { "Content-Type": "application/json" },
        signal,
      });
      if (response.body === null) throw new Error("a stream without a body");
      for await (const event of events(response.body)) {
        yield event;
        if (event.event === "exit") return;
      }
      throw new Error("the stream broke off before the command ended");
    } finally {
      abort.abort();
    }
  }
}

/** A sandbox. Paths are absolute, or relative to `/workspace`. */
export class Sandbox extends Executor {
  constructor(
    server: Isopod,
    readonly id: string,
  ) {
    super(server, `/v1/sandboxes/${encodeURIComponent(id)}`);
  }

  info(): Promise<SandboxInfo> {
    return this.server.json("GET", this.base);
  }

  /** Deletes the sandbox with its files. */
  delete(): Promise<void> {
    return this.server.json("DELETE", this.base);
  }

  /** Ends the lease: running commands are stopped, and other clients may lease the sandbox. */
  release(): Promise<void> {
    return this.server.json("POST", `${this.base}/release`);
  }

  /** Creates a sandbox with a copy of `/workspace`. */
  async fork(metadata: Record<string, string> = {}): Promise<Sandbox> {
    const info = await this.server.json<SandboxInfo>("POST", `${this.base}/fork`, { metadata });
    return new Sandbox(this.server, info.id);
  }

  /** Returns all files as one snapshot. */
  async snapshot(): Promise<Uint8Array> {
    const response = await this.server.ask("GET", `${this.base}/snapshot`);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** Starts a live shell, which keeps its directory, variables and jobs from one call to the next. */
  async session(id?: string): Promise<Session> {
    const made = await this.server.json<{ id: string }>("POST", `${this.base}/sessions`, id === undefined ? {} : { id });
    return new Session(this.server, `${this.base}/sessions/${made.id}`, made.id);
  }

  list(path: string): Promise<{ entries: Entry[]; cut: Cut }> {
    return this.server.json("POST", `${this.base}/files/list`, { path });
  }

  read(path: string, offset = 0, limit?: number): Promise<Page> {
    return this.server.json("POST", `${this.base}/files/read`, { path, offset, ...(limit === undefined ? {} : { limit }) });
  }

  write(path: string, content: string, mode: "replace" | "create" | "append" = "replace"): Promise<{ bytes: number }> {
    return this.server.json("POST", `${this.base}/files/write`, { path, content, mode });
  }

  edit(path: string, old: string, text: string, all = false): Promise<{ occurrences: number; bytes: number }> {
    return this.server.json("POST", `${this.base}/files/edit`, { path, old, new: text, replace_all: all });
  }

  /** Removes a file, or a directory with its contents. */
  remove(path: string): Promise<void> {
    return this.server.json("POST", `${this.base}/files/delete`, { path });
  }

  glob(pattern: string, options: GlobOptions = {}): Promise<{ matches: Found[]; cut: Cut }> {
    return this.server.json("POST", `${this.base}/files/glob`, { pattern, ...options });
  }

  grep(pattern: string, options: GrepOptions = {}): Promise<{ matches: Line[]; cut: Cut }> {
    return this.server.json("POST", `${this.base}/files/grep`, { pattern, ...options });
  }

  async upload(path: string, bytes: Uint8Array): Promise<void> {
    await this.server.ask("PUT", `${this.base}/files/content?path=${encodeURIComponent(path)}`, { body: bytes });
  }

  async download(path: string): Promise<Uint8Array> {
    const response = await this.server.ask("GET", `${this.base}/files/content?path=${encodeURIComponent(path)}`);
    return new Uint8Array(await response.arrayBuffer());
  }
}

/** A live shell. Calls run one after another. */
export class Session extends Executor {
  constructor(
    server: Isopod,
    base: string,
    readonly id: string,
  ) {
    super(server, base);
  }

  /** Interrupts the running command, as Ctrl-C does. */
  interrupt(): Promise<void> {
    return this.server.json("POST", `${this.base}/interrupt`);
  }

  /** Ends the shell with all its processes. */
  close(): Promise<void> {
    return this.server.json("DELETE", this.base);
  }
}

function request(command: CommandLine, options: ExecuteOptions): Record<string, unknown> {
  const { timeoutMs, cwd, env, stdin, outputBytes } = options;
  return {
    command,
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(outputBytes === undefined ? {} : { output_bytes: outputBytes }),
    ...(stdin === undefined ? {} : typeof stdin === "string" ? { stdin } : { stdin: toBase64(stdin), stdin_encoding: "base64" }),
  };
}

/** Yields the events of a stream. An event ends with an empty line; a line with a leading colon is a comment. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ExecuteEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
      const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
      if (name === undefined || data === undefined) continue;
      const value = JSON.parse(data);
      if (name === "exit") yield { event: "exit", ...value };
      else if (name === "stdout" || name === "stderr") {
        yield { event: name, bytes: "text" in value ? new TextEncoder().encode(value.text) : fromBase64(value.base64) };
      }
    }
  }
}
