/** The encoding of bytes in JSON. */
export type Encoding = "utf-8" | "base64";

const decoder = new TextDecoder();

/** Decodes base64. */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  // In pieces, because the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}

/** Decodes text; bytes that are not UTF-8 become U+FFFD. */
export function text(content: string, encoding: Encoding): string {
  return encoding === "base64" ? decoder.decode(fromBase64(content)) : content;
}
