/**
 * A backend for Deep Agents JS (`deepagents` 1.14) with the answers of its `BaseSandbox`, without shell commands.
 *
 * The framework uses duck typing, so this file imports no type of that package; the tests do.
 */

import { fromBase64, text } from "./bytes.js";
import { IsopodError, type Sandbox } from "./client.js";

export interface FileInfo {
  path: string;
  is_dir?: boolean;
  size?: number;
  modified_at?: string;
}

type FileError = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path";

// The results of the framework: either `error` alone, or the other fields.
type LsResult = { error?: string; files?: FileInfo[] };
type ReadResult = {
  error?: string;
  content?: string | Uint8Array;
  mimeType?: string;
  totalLines?: number;
  startLine?: number;
  endLine?: number;
  nextOffset?: number;
};
type RawFile = { content: string | Uint8Array; mimeType: string; created_at: string; modified_at: string };
type PathResult = { error?: string; path?: string; filesUpdate?: null };
type EditResult = PathResult & { occurrences?: number };
type GrepResult = { error?: string; matches?: { path: string; line: number; text: string }[]; truncated?: boolean };
type GlobResult = { error?: string; files?: FileInfo[]; truncated?: boolean };
type UploadResult = { path: string; error: FileError | null };
type DownloadResult = { path: string; content: Uint8Array | null; error: FileError | null };

/** Default maximum of output bytes of a command. */
const OUTPUT_BYTES = 1 << 20;
const EMPTY = "System reminder: File exists but has empty contents\n";

/** Extensions of files that are binary, whatever their content. */
const BINARY: Record<string, string> = {
  png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", heic: "image/heic",
  heif: "image/heif", mp3: "audio/mpeg", wav: "audio/wav", aiff: "audio/aiff", aac: "audio/aac", ogg: "audio/ogg",
  flac: "audio/flac", mp4: "video/mp4", webm: "video/webm", mpeg: "video/mpeg", mov: "video/quicktime",
  avi: "video/x-msvideo", flv: "video/x-flv", mpg: "video/mpeg", wmv: "video/x-ms-wmv", "3gpp": "video/3gpp",
  pdf: "application/pdf", ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

/** Extensions of text files that are not `text/plain`. */
const TEXT: Record<string, string> = {
  svg: "image/svg+xml", md: "text/markdown", markdown: "text/markdown", html: "text/html", htm: "text/html",
  css: "text/css", csv: "text/csv", xml: "text/xml", json: "application/json", js: "application/javascript",
  mjs: "application/javascript", cjs: "application/javascript",
};

export class IsopodBackend {
  readonly id: string;

  constructor(
    readonly sandbox: Sandbox,
    private readonly options: { timeoutMs?: number; outputBytes?: number } = {},
  ) {
    this.id = sandbox.id;
  }

  async execute(command: string): Promise<{ output: string; exitCode: number | null; truncated: boolean }> {
    try {
      const executed = await this.sandbox.execute(command, { outputBytes: OUTPUT_BYTES, ...this.options });
      const { output, encoding, exit_code, truncated } = executed;
      return { output: text(output, encoding), exitCode: exit_code, truncated };
    } catch (error) {
      // A command that cannot start has failed. An unreachable server is an error of its own.
      if (!(error instanceof IsopodError) || error.status !== 422) throw error;
      return { output: `Error: ${error.message}`, exitCode: 1, truncated: false };
    }
  }

  async ls(path: string): Promise<LsResult> {
    return attempt<LsResult>(
      async () => {
        const { entries } = await this.sandbox.list(path);
        return { files: entries.map((entry) => info(entry.kind === "directory" ? `${entry.path}/` : entry.path, entry)) };
      },
      { file_not_found: () => ({ files: [] }), not_a_directory: () => ({ files: [] }) },
      (error) => ({ error: `Cannot list ${path}: ${error.message}` }),
    );
  }

  async read(filePath: string, offset = 0, limit = 500): Promise<ReadResult> {
    const mimeType = mime(filePath);
    if (isBinary(filePath)) {
      const [answer] = await this.downloadFiles([filePath]);
      return answer?.content ? { content: answer.content, mimeType } : { error: `File '${filePath}' not found` };
    }
    const [from, count] = [whole(offset), whole(limit)];
    if (count === 0) return { content: "", mimeType };
    const missing = () => ({ error: `File '${filePath}' not found` });
    return attempt<ReadResult>(
      async () => {
        const page = await this.sandbox.read(filePath, from, count);
        if (page.encoding === "base64") return { content: fromBase64(page.content), mimeType: "application/octet-stream" };
        if (page.total_lines === 0) return { content: EMPTY, mimeType };
        const lines = page.content.split("\n");
        const numbered = lines.map((line, at) => `${String(from + at + 1).padStart(6)}\t${line}\n`).join("");
        return {
          content: numbered,
          mimeType,
          startLine: from + 1,
          endLine: from + lines.length,
          ...(page.total_lines === null ? {} : { totalLines: page.total_lines }),
          ...(page.next_offset === null ? {} : { nextOffset: page.next_offset }),
        };
      },
      { file_not_found: missing, is_directory: missing, not_regular: missing, past_end: () => ({ content: "", mimeType }) },
      (error) => ({ error: `Cannot read ${filePath}: ${error.message}` }),
    );
  }

  async readRaw(filePath: string): Promise<{ error?: string; data?: RawFile }> {
    const [answer] = await this.downloadFiles([filePath]);
    if (!answer?.content) return { error: `File '${filePath}' not found` };
    const now = new Date().toISOString();
    const content = isBinary(filePath) ? answer.content : new TextDecoder().decode(answer.content);
    return { data: { content, mimeType: mime(filePath), created_at: now, modified_at: now } };
  }

  async write(filePath: string, content: string): Promise<PathResult> {
    const bytes = isBinary(filePath) ? fromBase64(content) : new TextEncoder().encode(content);
    const [answer] = await this.uploadFiles([[filePath, bytes]]);
    return answer?.error ? { error: `Failed to write to ${filePath}: ${answer.error}` } : { path: filePath, filesUpdate: null };
  }

  async edit(filePath: string, oldString: string, newString: string, replaceAll = false): Promise<EditResult> {
    const done = (occurrences: number) => ({ path: filePath, filesUpdate: null, occurrences });
    const missing = () => ({ error: `Error: File '${filePath}' not found` });
    return attempt<EditResult>(
      async () => {
        if (oldString === "") {
          if ((await this.sandbox.download(filePath)).length > 0) {
            return { error: "oldString must not be empty unless the file is empty" };
          }
          if (newString !== "") await this.sandbox.write(filePath, newString);
          return done(newString === "" ? 0 : 1);
        }
        return done((await this.sandbox.edit(filePath, oldString, newString, replaceAll)).occurrences);
      },
      {
        file_not_found: missing,
        is_directory: missing,
        not_regular: missing,
        text_not_found: () => ({ error: `String not found in file '${filePath}'` }),
        text_ambiguous: () => ({
          error: `Multiple occurrences found in '${filePath}'. Use replaceAll=true to replace all.`,
        }),
      },
      (error) => ({ error: `Failed to write edited file '${filePath}': ${code(error)}` }),
    );
  }

  async delete(filePath: string): Promise<PathResult> {
    return attempt<PathResult>(
      async () => {
        await this.sandbox.remove(filePath);
        return { path: filePath, filesUpdate: null };
      },
      { file_not_found: () => ({ error: `Error: '${filePath}' not found` }) },
      (error) => ({ error: `Error deleting file '${filePath}': ${error.message}` }),
    );
  }

  async grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null): Promise<GrepResult> {
    const options = {
      path: path ?? "/",
      literal: true,
      ...(glob ? { include: glob } : {}),
      ...(maxCount === undefined || maxCount === null ? {} : { limit: maxCount }),
    };
    return attempt<GrepResult>(
      async () => {
        const { matches, cut } = await this.sandbox.grep(pattern, options);
        const lines = matches.filter((match) => !isBinary(match.path));
        const found = lines.map(({ path, line, text }) => ({ path, line, text }));
        return cut === null ? { matches: found } : { matches: found, truncated: true };
      },
      { file_not_found: () => ({ matches: [] }) },
      (error) => ({ error: `Cannot search ${options.path}: ${error.message}` }),
    );
  }

  /** Finds files and directories, as relative paths. `*` matches within one level, and hidden names too. */
  async glob(pattern: string, path = "/"): Promise<GlobResult> {
    const anchored = pattern.startsWith("/") ? pattern : `/${pattern}`;
    return attempt<GlobResult>(
      async () => {
        const { matches, cut } = await this.sandbox.glob(anchored, { path, directories: true, hidden: true });
        return { files: matches.map((found) => info(found.relative, found)), truncated: cut !== null };
      },
      { file_not_found: () => ({ files: [], truncated: false }) },
      (error) => ({ error: `Cannot search ${path}: ${error.message}` }),
    );
  }

  async uploadFiles(files: [string, Uint8Array][]): Promise<UploadResult[]> {
    return each<[string, Uint8Array], UploadResult>(files, async ([path, bytes]) => {
      if (!path.startsWith("/")) return { path, error: "invalid_path" };
      return attempt<UploadResult>(
        async () => {
          await this.sandbox.upload(path, bytes);
          return { path, error: null };
        },
        {},
        (error) => ({ path, error: code(error) }),
      );
    });
  }

  async downloadFiles(paths: string[]): Promise<DownloadResult[]> {
    return each<string, DownloadResult>(paths, async (path) => {
      if (!path.startsWith("/")) return { path, content: null, error: "invalid_path" };
      return attempt<DownloadResult>(
        async () => ({ path, content: await this.sandbox.download(path), error: null }),
        {},
        (error) => ({ path, content: null, error: code(error) }),
      );
    });
  }
}

/** Runs work. A refusal becomes the answer of its kind in `known`, or that of `other`; all other errors are thrown. */
async function attempt<T>(
  work: () => Promise<T>,
  known: Record<string, () => T>,
  other: (error: IsopodError) => T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Errors of the server and not of the file are thrown: a wrong key, a deleted sandbox, overload.
    if (!(error instanceof IsopodError) || ![403, 404, 409, 413, 422, 507].includes(error.status)) throw error;
    if (error.kind === "not_found" || error.kind === "in_use") throw error;
    return (known[error.kind] ?? (() => other(error)))();
  }
}

async function each<A, B>(all: A[], work: (one: A) => Promise<B>): Promise<B[]> {
  const answers: B[] = [];
  for (const one of all) answers.push(await work(one));
  return answers;
}

function code(error: IsopodError): FileError {
  const known: string[] = ["file_not_found", "permission_denied", "is_directory"];
  return known.includes(error.kind) ? (error.kind as FileError) : "invalid_path";
}

function info(path: string, of: { kind: string; size: number; modified_ms: number }): FileInfo {
  return { path, is_dir: of.kind === "directory", size: of.size, modified_at: new Date(of.modified_ms).toISOString() };
}

function extension(path: string): string {
  return /[^/]\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

function isBinary(path: string): boolean {
  return extension(path) in BINARY;
}

function mime(path: string): string {
  return BINARY[extension(path)] ?? TEXT[extension(path)] ?? "text/plain";
}

function whole(number: number): number {
  return Number.isFinite(number) ? Math.max(0, Math.floor(number)) : 0;
}
