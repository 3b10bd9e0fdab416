import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, RemovalPolicy, type Stack } from "aws-cdk-lib";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { type Bundle, bundle, writeBundle } from "../lib/bundle.ts";
import { IncomeEventsStack } from "../lib/income-events-stack.ts";
import { loadSettings } from "../lib/settings.ts";
import { type Part, type Peer, parts, type Side } from "./sides.ts";

const repository = join(import.meta.dirname, "..");

/** A side's synthesized stack: ours, or ours with a peer's code in the functions that are measured. */
export type Assembly = Disposable & {
  readonly directory: string;
  /** Where the code of a part lies, with the settings beside it. */
  readonly codeOf: (part: Part) => string;
};

export type AssembleOptions = {
  /** Without them the functions are invoked by whoever measures, batch by batch. */
  readonly hasEventSources: boolean;
};

/** Synthesizes the stack of one side, with the settings of `bench/settings.json`. */
export function assemble(side: Side, { hasEventSources }: AssembleOptions): Assembly {
  const directory = mkdtempSync(join(tmpdir(), `bench-${side}-`));
  const app = new App({
    outdir: join(directory, "assembly"),
    // Synthesis here only makes what is run; the product's own is checked elsewhere.
    context: { "@aws-cdk/core:validateAgainstDefaultRules": false },
  });
  const settings = loadSettings("bench", repository, join(import.meta.dirname, "settings.json"));
  const codeOf = (entry: string, slice: unknown) =>
    lambda.Code.fromAsset(write(bundle(repository, entryOf(side, entry)), slice, directory, entry));
  const stack = new IncomeEventsStack(app, { stage: "bench", settings, codeOf });
  if (!hasEventSources) stopEventSources(stack);
  if (side !== "ours") letPeerWork(stack);
  app.synth();
  return {
    directory: join(directory, "assembly"),
    codeOf: (part) => codeDirectory(directory, ourEntries[part]),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

const ourEntries: Readonly<Record<Part, string>> = {
  receive: "functions/receive/accounts.ts",
  store: "functions/store/accounts.ts",
  relay: "functions/relay/changes.ts",
  fetch: "functions/fetch/data.ts",
};

function entryOf(side: Side, entry: string): string {
  const part = parts.find((name) => entry.startsWith(`functions/${name}/`));
  return side === "ours" || part === undefined ? entry : peerEntry(side, part);
}

const peerEntry = (peer: Peer, part: Part) => `bench/peers/${peer}/${part}.ts`;

function write(built: Bundle, settings: unknown, root: string, entry: string): string {
  const directory = codeDirectory(root, entry);
  writeBundle(directory, built);
  writeFileSync(join(directory, "settings.json"), JSON.stringify(settings));
  return directory;
}

function codeDirectory(root: string, entry: string): string {
  return join(root, entry.replace(/\.ts$/, ""));
}

function stopEventSources(stack: Stack): void {
  for (const source of all(stack, lambda.CfnEventSourceMapping)) source.enabled = false;
}

/** What a peer needs beyond our functions: to know its kind, to write as it likes, and a table against duplicates. */
function letPeerWork(stack: Stack): void {
  const idempotency = new dynamodb.Table(stack, "Idempotency", {
    partitionKey: { name: "id", type: dynamodb.AttributeType.STRING },
    billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const tables = [idempotency, ...all(stack, dynamodb.Table).filter((table) => table !== idempotency)];
  for (const each of all(stack, lambda.Function)) {
    const [kind = ""] = each.node.path.split("/").slice(1);
    each.addEnvironment("WEBHOOK_KIND", kindOf(kind));
    each.addEnvironment("IDEMPOTENCY_TABLE", idempotency.tableName);
    for (const table of tables) {
      table.grant(each, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem");
    }
  }
}

/** `CompanyAccounts` as `company-accounts`. */
function kindOf(construct: string): string {
  return construct.replace(/(?<!^)[A-Z]/g, "-$&").toLowerCase();
}

function all<T extends IConstruct>(stack: Stack, type: abstract new (...args: never[]) => T): readonly T[] {
  return stack.node.findAll().filter((each): each is T => each instanceof type);
}
