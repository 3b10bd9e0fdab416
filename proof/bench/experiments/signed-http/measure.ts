import { spawn } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import { z } from "zod";
import { envelopeVersion, writeEnvelope } from "../../../../domain/event/envelope.ts";
import { type Bundle, bundle, writeBundle } from "../../../../lib/function/bundle.ts";
import { assemble } from "../../assemble.ts";
import { httpEvent, queueEvent } from "../../drive/invocations.ts";
import { webhookSecret } from "../../drive/running-side.ts";
import { estimate } from "../../measure/statistics.ts";
import { startTlsStandIn } from "../../measure/tls-stand-in.ts";
import { importEnvironment } from "../../rows/import-rows.ts";
import { workload } from "../../workload.ts";
import { signedHttp } from "./stand-ins.ts";

const examples = `
Each line: what was measured of a function beyond an empty one, over the SDK's clients, over signed HTTP, and the ratio
with its interval at 95 %.

Examples:
  node proof/bench/experiments/signed-http/measure.ts
  node proof/bench/experiments/signed-http/measure.ts --runs 5 --calls 50`;

const program = new Command("node proof/bench/experiments/signed-http/measure.ts")
  .description(
    "Measures receivers and consumers over signed HTTP beside the SDK's clients, in turns, over TLS.",
  )
  .option("--runs <number>", "fresh processes of each", wholeNumber(1), 15)
  .option("--calls <number>", "warm calls of each process", wholeNumber(1), 300)
  .addHelpText("after", examples)
  .parse();
const { runs, calls } = program.opts<{ runs: number; calls: number }>();

const repository = join(import.meta.dirname, "../../../..");
const figures = z.object({ imported: z.number(), first: z.number(), warm: z.number(), atRest: z.number() });
type Figures = z.output<typeof figures>;
type Round = Readonly<Record<"sdk" | "signed" | "empty", Figures>>;

await using standIn = await startTlsStandIn();
using assembly = assemble("ours", { hasEventSources: false });
const directory = await mkdtemp(join(tmpdir(), "signed-http-"));
const environment = {
  ...importEnvironment,
  AWS_ENDPOINT_URL: standIn.url,
  QUEUE_URL: `${standIn.url}/000000000000/queue`,
  NODE_EXTRA_CA_CERTS: standIn.certificateFile,
};
const random = generateMersenne53Randomizer(1);
for (const [part, event] of await eventsOf()) {
  const eventFile = join(directory, `${part}.json`);
  await writeFile(eventFile, JSON.stringify(event));
  const entry = `functions/${part}/accounts.ts`;
  const [sdk, signed, empty] = await Promise.all([
    write(part, "sdk", bundle(repository, entry)),
    write(part, "signed", bundle(repository, entry, signedHttp)),
    write(part, "empty", bundle(repository, "proof/bench/references/empty.ts")),
  ]);
  const rounds: Round[] = [];
  for (let run = 1; run <= runs; run += 1) {
    const round = async ({ file }: { file: string }) => runFresh([file, eventFile, String(calls)]);
    rounds.push({ sdk: await round(sdk), signed: await round(signed), empty: await round(empty) });
    process.stderr.write(`${part}, ${run} of ${runs}\n`);
  }
  tell(`${part} KB at start, compressed`, [[sdk.kilobytes, signed.kilobytes]]);
  const beyondEmpty = (name: keyof Figures) =>
    rounds.map(
      (round) => [round.sdk[name] - round.empty[name], round.signed[name] - round.empty[name]] as const,
    );
  tell(`${part} ms of processor time to import`, beyondEmpty("imported"));
  tell(`${part} ms of processor time to import and answer once`, beyondEmpty("first"));
  tell(`${part} ms of processor time of a warm call`, beyondEmpty("warm"));
  tell(`${part} MB at rest`, beyondEmpty("atRest"));
}
await rm(directory, { recursive: true });

async function eventsOf() {
  const [{ body = "" } = {}] = workload({ seed: 1, events: 2, duplicates: 0 }).filter(
    ({ kind }) => kind === "accounts",
  );
  const receivedAt = "2026-11-21T10:00:00.000Z";
  const envelope = { schemaVersion: envelopeVersion, kind: "accounts", receivedAt } as const;
  const messages = Array.from({ length: 10 }, (_, index) => ({
    MessageId: `m-${index}`,
    ReceiptHandle: "handle",
    Body: writeEnvelope({ ...envelope, id: `event-${index}`, body: { as: "text", text: body } }),
    Attributes: {},
  }));
  return [
    ["receive", httpEvent("accounts", body, webhookSecret)],
    ["store", queueEvent(messages)],
  ] as const;
}

async function write(part: "receive" | "store", name: string, built: Bundle) {
  // Beside our own code, whose settings they share.
  const root = join(assembly.codeOf(part), name);
  writeBundle(root, built);
  await copyFile(join(assembly.codeOf(part), "settings.json"), join(root, "settings.json"));
  return { file: join(root, "index.mjs"), kilobytes: gzipKilobytes(built) };
}

function gzipKilobytes({ files }: Bundle): number {
  return gzipSync(files.get("index.mjs") ?? "", { level: 9 }).byteLength / 1024;
}

async function runFresh(args: readonly string[]): Promise<Figures> {
  const child = spawn(
    process.execPath,
    ["--no-warnings", join(import.meta.dirname, "run-bundle.ts"), ...args],
    {
      env: environment,
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const exited = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  for await (const text of child.stderr.setEncoding("utf8")) said += text;
  if ((await exited) !== 0) throw new Error(`${args[0]}: ${said}`);
  return figures.parse(JSON.parse(said.trim().split("\n").at(-1) ?? ""));
}

function tell(name: string, pairs: readonly (readonly [sdk: number, signed: number])[]): void {
  const estimateOf = (values: readonly number[]) => estimate(values, () => random.next());
  const [sdk, signed] = [estimateOf(pairs.map(([each]) => each)), estimateOf(pairs.map(([, each]) => each))];
  const ratio = estimateOf(pairs.map(([before, after]) => after / before));
  const text = (value: number) => value.toPrecision(3);
  const interval = `(${text(ratio.low)} to ${text(ratio.high)})`;
  process.stdout.write(
    `${name}: ${text(sdk.median)} ${text(signed.median)} × ${text(ratio.median)} ${interval}\n`,
  );
}
