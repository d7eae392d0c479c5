/** The real server for the tests, on a port of its own. */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";

import { Isopod } from "../src/index.js";

const KEY = "0123456789abcdef-test";

/** Starts a server that ends after the tests of the file. */
export async function serve(): Promise<{ isopod: Isopod; url: string; key: string }> {
  const program = resolve(process.env["ISOPOD"] ?? "../target/debug/isopod");
  const home = mkdtempSync(join(tmpdir(), "isopod-"));
  const args = ["serve", "--listen", "127.0.0.1:0", "--log", "off", "--root", join(home, "root")];
  const server = spawn(program, args, { env: { ...process.env, ISOPOD_API_KEY: KEY }, stdio: ["ignore", "pipe", "inherit"] });
  after(async () => {
    const gone = new Promise((done) => server.once("exit", done));
    server.kill("SIGTERM");
    await gone;
    rmSync(home, { recursive: true });
  });
  const url = await new Promise<string>((found, failed) => {
    server.once("error", failed);
    server.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
    createInterface(server.stdout).once("line", (line) => found(line.replace("listening on ", "")));
  });
  return { isopod: new Isopod({ url, apiKey: KEY }), url, key: KEY };
}
