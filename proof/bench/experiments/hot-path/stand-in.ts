import { readFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { startTlsStandIn } from "../../measure/tls-stand-in.ts";

// In a thread of its own: only the caller's processor time is measured.
const { url, certificateFile } = await startTlsStandIn();
parentPort?.postMessage({ url, ca: readFileSync(certificateFile, "utf8") });
