/** code-artisan's `Sandbox`. */

import { text } from "./bytes.js";
import { IsopodError, type Sandbox } from "./client.js";

/** Maximum timeout of a command, as in code-artisan. */
const TIME_MAX = 300_000;
/** Maximum entries of a listing and matches of a search, as in code-artisan. */
const RESULTS = 500;

export class ArtisanSandbox {
  constructor(readonly sandbox: Sandbox) {}

  /** Executes a command. Does not throw if it fails or cannot start; the exit code is 124 if it timed out. */
  async exec(
    cmd: string,
    options: { cwd?: string; timeoutMs?: number } = {},
  ): Promise<{ stdout: string; stderr: string; exitCode: number }> {
    const { cwd, timeoutMs } = options;
    try {
      const { stdout, stderr, encoding, exit_code } = await this.sandbox.execute(cmd, {
        ...(cwd === undefined ? {} : { cwd }),
        ...(timeoutMs === undefined ? {} : { timeoutMs: Math.min(timeoutMs, TIME_MAX) }),
      });
      return { stdout: text(stdout, encoding), stderr: text(stderr, encoding), exitCode: exit_code };
    } catch (error) {
      if (!(error instanceof IsopodError) || error.status !== 422) throw error;
      return { stdout: "", stderr: `${error.message}\n`, exitCode: 126 };
    }
  }

  async readFile(path: string): Promise<string> {
    return new TextDecoder().decode(await this.sandbox.download(path));
  }

  async writeFile(path: string, content: string, options: { append?: boolean } = {}): Promise<void> {
    await this.sandbox.write(path, content, options.append ? "append" : "replace");
  }

  /** Lists two levels of a directory, as relative paths; those of directories end in a slash. */
  async listDir(path: string): Promise<string[]> {
    const options = { path, directories: true, hidden: true, limit: RESULTS };
    const { matches } = await this.sandbox.glob("{*,*/*}", options);
    return matches.map((found) => (found.kind === "directory" ? `${found.relative}/` : found.relative));
  }

  async glob(pattern: string, path: string): Promise<string[]> {
    const { matches } = await this.sandbox.glob(pattern, { path, limit: RESULTS });
    return matches.map((found) => found.relative);
  }

  async grep(pattern: string, path: string, include?: string): Promise<{ path: string; line: number; text: string }[]> {
    const options = { path, literal: true, limit: RESULTS, ...(include === undefined ? {} : { include }) };
    const { matches } = await this.sandbox.grep(pattern, options);
    return matches.map(({ path, line, text }) => ({ path, line, text }));
  }
}
