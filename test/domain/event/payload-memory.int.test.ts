import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const module = fileURLToPath(new URL("../../../domain/event/payload.ts", import.meta.url));

/** Runs in its own process, which ends when memory runs out. */
function inspectIn(megabytes: number, unit: string): string {
  const program = `
    const { inspectPayload } = await import(${JSON.stringify(module)});
    const unit = ${JSON.stringify(unit)};
    const body = Buffer.from("[" + Array(Math.floor(6_000_000 / (unit.length + 1))).fill(unit).join(",") + "]");
    const payload = inspectPayload(body);
    console.log(payload.ok && !Buffer.from(payload.bytes).includes("link"));
  `;
  const flags = [
    "--disable-warning=ExperimentalWarning",
    `--max-old-space-size=${megabytes}`,
    "--input-type=module",
  ];
  const { stdout } = spawnSync(process.execPath, [...flags, "-e", program], { encoding: "utf8" });
  return stdout.trim();
}

it.each(['{"link":1}', '{"a":{"link":""},"b":1}', '[[],{"LINK":{}}]'])(
  "a body of 6 MB full of credentials is read within a heap of 128 MB, of a receiver's 512: %s",
  (unit) => {
    expect(inspectIn(128, unit)).toBe("true");
  },
);
