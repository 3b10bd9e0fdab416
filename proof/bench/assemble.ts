import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { App, RemovalPolicy, type Stack } from "aws-cdk-lib";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as sqs from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import { webhookKinds } from "../../domain/event/events.ts";
import { bundleAll, entriesIn } from "../../lib/function/bundle.ts";
import { writeFiles } from "../../lib/function/code-files.ts";
import type { CodeOf } from "../../lib/function/pipeline-function.ts";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";
import { leftOutOfIds } from "../../lib/instance.ts";
import { pascalCase } from "../../lib/names.ts";
import { documented } from "../../scripts/documents/stage-template.ts";
import { type Implementation, type Part, parts } from "./implementations.ts";
import { scratchDirectory } from "./scratch.ts";

const repository = join(import.meta.dirname, "../..");
const where = "proof/bench/assemble.ts";
const settings = {
  ...documented,
  provider: {
    ...documented.provider,
    baseUrls: { sandbox: "http://127.0.0.1:4010" },
    requestsPerMinute: 60_000,
    timeouts: { connectSeconds: 1, headersSeconds: 2, bodySeconds: 2 },
    allowPrivateAddresses: true,
  },
  accountConcurrency: 1_000,
  webhooks: { throttle: { requestsPerSecond: 10_000, burst: 5_000 } },
  fetch: { readAfterSeconds: 1 },
};
/** The same settings with inline documents. */
const inline = { ...settings, subscribers: [{ name: "reader", documents: "inline" }] };

/** A synthesized stack: ours, or ours with a peer's code in the measured functions. */
export type Assembly = {
  readonly directory: string;
  /** Directory of a part's code, with its settings file. */
  readonly codeOf: (part: Part) => string;
};

export type AssembleOptions = {
  /** Without event sources, the benchmark invokes the functions itself, batch by batch. */
  readonly hasEventSources?: boolean;
  /** Whether the subscriber's messages contain documents. */
  readonly isInline?: boolean;
};

const assembled = new Map<string, Promise<Assembly>>();

export function assemble(implementation: Implementation, options: AssembleOptions = {}): Promise<Assembly> {
  const { hasEventSources = false, isInline = false } = options;
  const key = `${implementation} ${hasEventSources} ${isInline}`;
  const assembly = assembled.get(key) ?? synthesize(implementation, hasEventSources, isInline);
  assembled.set(key, assembly);
  return assembly;
}

async function synthesize(
  implementation: Implementation,
  hasEventSources: boolean,
  isInline: boolean,
): Promise<Assembly> {
  const entries = new Map(entriesIn(repository).map((entry) => [entry, entryOf(implementation, entry)]));
  const bundles = await bundleAll(repository, [...new Set(entries.values())]);
  const directory = scratchDirectory(implementation);
  const app = new App({
    outdir: join(directory, "assembly"),
    builtinCloudFormationValidation: false,
  });
  const codeOf: CodeOf = (entry, slice, name) => {
    const built = bundles.get(entries.get(entry) ?? "");
    if (built === undefined) throw new Error(`${entry} exports no handler`);
    const target = join(directory, name);
    writeFiles(target, built.files);
    writeFileSync(join(target, "settings.json"), JSON.stringify(slice));
    return lambda.Code.fromAsset(target);
  };
  const stack = new IncomeEventsStack(app, "income-events-bench", {
    stage: "bench",
    written: isInline ? inline : settings,
    where,
    codeOf,
  });
  stack.events.complete();
  if (!hasEventSources) for (const source of all(stack, lambda.CfnEventSourceMapping)) source.enabled = false;
  if (implementation !== "ours") letPeerWork(stack);
  app.synth();
  return {
    directory: join(directory, "assembly"),
    codeOf: (part) => join(directory, measured[part]),
  };
}

/** Functions by their names in log lines. */
const measured: Readonly<Record<Part, string>> = {
  receive: "receive/accounts",
  store: "store/accounts",
  relay: "relay/changes",
  fetch: "fetch/data",
};

/**
 * Entry of a function. Functions outside the event path (token, registration, dead letters) are not measured
 * and do nothing.
 */
function entryOf(implementation: Implementation, entry: string): string {
  const part = parts.find((name) => entry.startsWith(`functions/${name}/`));
  if (part === undefined) return "proof/bench/references/empty.ts";
  return implementation === "ours" ? entry : `proof/bench/peers/${implementation}/${part}.ts`;
}

const actions = ["GetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert"].map(
  (name) => `dynamodb:${name}`,
);

/** Adds what a peer needs beyond our stack: its kind, write permissions, a table for idempotency. */
function letPeerWork(stack: Stack): void {
  const idempotency = new dynamodb.Table(stack, "Idempotency", {
    partitionKey: { name: "id", type: dynamodb.AttributeType.STRING },
    billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  // The peers send no message groups.
  for (const queue of all(stack, sqs.CfnQueue)) {
    queue.fifoQueue = undefined;
    queue.contentBasedDeduplication = undefined;
    queue.deduplicationScope = undefined;
    queue.fifoThroughputLimit = undefined;
  }
  for (const source of all(stack, lambda.CfnEventSourceMapping)) {
    if (source.startingPosition !== undefined) source.filterCriteria = { filters: peerChanges };
  }
  const tables = [idempotency, ...all(stack, dynamodb.TableV2)];
  for (const each of all(stack, lambda.Function)) {
    const [kind = ""] = each.node.path
      .split("/")
      .filter((id) => id !== leftOutOfIds)
      .slice(1);
    each.addEnvironment("WEBHOOK_KIND", webhookKinds.find((name) => pascalCase(name) === kind) ?? "");
    each.addEnvironment("IDEMPOTENCY_TABLE", idempotency.tableName);
    for (const table of tables) {
      table.grant(each, ...actions);
    }
  }
}

/** Filter of the changes that a peer's relay handles, by the peers' keys. */
const peerChanges = ["EVENT#", "DATA#"].map((prefix) => ({
  pattern: JSON.stringify({
    eventName: ["INSERT", "MODIFY"],
    dynamodb: { NewImage: { sk: { S: [{ prefix }] } } },
  }),
}));

function all<T extends IConstruct>(stack: Stack, type: abstract new (...args: never[]) => T): readonly T[] {
  return stack.node.findAll().filter((each): each is T => each instanceof type);
}
