/** How bytes are written in JSON. */
export type Encoding = "utf-8" | "base64";

const decoder = new TextDecoder();

/** What base64 stands for. */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  // In pieces: a call has only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}

/** Text as it is, or with U+FFFD for what is not UTF-8. */
export function text(content: string, encoding: Encoding): string {
  return encoding === "base64" ? decoder.decode(fromBase64(content)) : content;
}
