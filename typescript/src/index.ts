export * from "./client.js";
export { ArtisanSandbox } from "./artisan.js";
export { IsopodBackend, type FileInfo } from "./deepagents.js";
export { fromBase64, toBase64, type Encoding } from "./bytes.js";
