import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { readAssembly } from "@income-events/local-stack/assembly/read-assembly.ts";
import { deadLetterQueuesOf, outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { problemsOf } from "@income-events/local-stack/problems.ts";
import { type Found, findLosses } from "@income-events/local-stack/scenario/compare.ts";
import { expectationOf } from "@income-events/local-stack/scenario/run.ts";
import { readDeadLetters, readObjects, readTable } from "@income-events/local-stack/scenario/snapshot.ts";
import { recordTraffic } from "@income-events/local-stack/scenario/traffic.ts";
import { type System, startSystem } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ProductAssembly } from "../../tools/product-assembly.ts";
import { readSamples } from "../releases/sample-files.ts";
import { fastEngine } from "../support/engines.ts";
import { previousRelease, synthesizeCommit } from "../support/previous-release.ts";
import { synthesizeProduct } from "../support/product.ts";
import { invokeScheduled, sendLoad, sendWrittenToday } from "../support/release-load.ts";
import { duplicatesIn, readMessages } from "../support/subscriber-messages.ts";
import { waitUntilIdle } from "../support/wait-until-idle.ts";

/** An update of all functions, and its rollback. */
const phases = ["before", "both", "after", "both", "before"] as const;

it("synthesis of a release that the history lacks says how to have it", async () => {
  const synthesis = synthesizeCommit("0".repeat(40), "local", {});
  await expect(synthesis).rejects.toThrow("git fetch --unshallow");
});

/** On the resources of this release, which an update makes before it changes a function. */
describe("the release before this one, beside this one", () => {
  const traffic = recordTraffic();
  let before: ProductAssembly;
  let after: ProductAssembly;
  let system: System;

  beforeAll(async () => {
    const { commit } = await previousRelease();
    // The time-outs of a stage in AWS: what ends by them on a slow machine would say nothing of releases. But a fetch
    // claims its data for as long as it may run, and the release before gives a claim back only where it failed: the
    // tasks of one datum, of which there are several, wait for each other's time-outs.
    const changes = { functions: { fetch: { timeoutSeconds: 20 } } };
    [before, after] = await Promise.all([
      synthesizeCommit(commit, "local", changes),
      synthesizeProduct("local", changes),
    ]);
    for (const assembly of [before, after]) {
      // Less than one call may take, so that a tick ends after each page: one release goes on where the other ended.
      await assembly.change(/^ReconcileUsersFunction[0-9A-F]{8}$/, (properties) => {
        properties.Timeout = 30;
      });
    }
    const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
    system = await startSystem(
      {
        once: true,
        users: 0,
        stage: "local",
        assembly: after.directory,
        engine: await fastEngine(),
        ...ports,
      },
      // The token is always near its end, and lists come in pages.
      { delivery: { firstRetryMs: 200 }, pageSize: 2, tokenLifetimeSeconds: 600 },
      () => undefined,
      traffic.observe,
    );
  });
  afterAll(async () => {
    await system.close();
    await before[Symbol.asyncDispose]();
    await after[Symbol.asyncDispose]();
  });

  const plansOf = ({ directory }: ProductAssembly) =>
    new Map(system.stack.functionsOf(directory).map((plan) => [plan.logicalId, plan]));

  /** Lets each function run the code of the chosen releases, in turn, while webhooks come in. */
  async function runPhases(): Promise<void> {
    const [old, current] = [plansOf(before), plansOf(after)];
    const functions = system.stack.functions.flatMap((each) => {
      const plans = { before: old.get(each.logicalId), after: current.get(each.logicalId) };
      return plans.before && plans.after ? [{ each, before: plans.before, after: plans.after }] : [];
    });
    for (const phase of phases) {
      for (const plans of functions) {
        plans.each.serve(phase === "both" ? [plans.before, plans.after] : [plans[phase]]);
      }
      const reached = functions.map(({ each }) => each);
      await sendLoad(system, reached, phase === "both" ? 2 : 1);
    }
  }

  const messagesOf = async () => {
    const subscribers = subscribersOf(system.stack);
    return Promise.all(
      subscribers.map(async ({ name, queueUrl }) => ({
        name,
        messages: await readMessages(system.access, queueUrl),
      })),
    );
  };

  async function kindsOfObjects(): Promise<ReadonlySet<string | undefined>> {
    const client = new S3Client({ ...system.access, forcePathStyle: true });
    const list = { Bucket: outputOf(system.stack, "OverflowBucketName") };
    const keys: string[] = [];
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, list)) {
      keys.push(...Contents.map(({ Key = "" }) => Key));
    }
    client.destroy();
    return new Set(keys.map((key) => key.split("/")[0]));
  }

  async function findAll(): Promise<Omit<Found, "messages">> {
    const { access, stack } = system;
    const table = await readTable(access, outputOf(stack, "TableName"));
    const large = await readObjects(access, outputOf(stack, "OverflowBucketName"), table.objects);
    const deadLetters = await Promise.all(
      deadLetterQueuesOf(stack).map(({ url, source }) => readDeadLetters(access, url, source)),
    );
    return { table, contents: new Map([...table.contents, ...large]), deadLetters: deadLetters.flat() };
  }

  it("loses nothing and doubles nothing while functions are updated and rolled back under load", async () => {
    const { sandbox, stack } = system;
    const missed = await sandbox.createUsers(2, { drop: true });
    await runPhases();
    // Rolled back by now: each form is met for certain, however the load has dealt them out.
    await sendWrittenToday(system);
    await waitUntilIdle(system);
    for (const _page of sandbox.snapshot().users) await invokeScheduled(system);
    await waitUntilIdle(system);

    const received = await messagesOf();
    const ids = received.map(
      ({ name, messages }) => [name, new Map(messages.map(({ id, type }) => [id, type]))] as const,
    );
    const found = { ...(await findAll()), messages: new Map(ids) };
    expect(findLosses(expectationOf(sandbox, traffic, new Set()), found, subscribersOf(stack))).toEqual([]);
    expect(received.flatMap(({ messages }) => duplicatesIn(messages))).toEqual([]);
    expect(traffic.requests().filter(({ status }) => status >= 400 && status < 500)).toEqual([]);
    const { events } = found.table;
    const unannounced = [...events].filter(([id]) => !traffic.accepted().has(id));
    expect(unannounced.filter(([, { reconciled }]) => !reconciled)).toEqual([]);
    expect(unannounced.length).toBeGreaterThanOrEqual(missed.users.length + missed.accounts.length);
    expect(problemsOf(stack)).toEqual([]);
    // Lists were read in parts, by one function and then another.
    expect(await kindsOfObjects()).toEqual(new Set(["bodies", "data", "pages"]));
  });

  it("leaves no item without a version but of those kinds that the release before gave none", async () => {
    const { version } = await previousRelease();
    const { items = {} } = await readSamples(version);
    const unversioned = Object.values(items).filter((item) => !Object.hasOwn(Object(item), "schemaVersion"));
    const TableName = outputOf(system.stack, "TableName");
    const scan = { TableName, FilterExpression: "attribute_not_exists(schemaVersion)" };
    const client = new DynamoDBClient(system.access);
    const left: unknown[] = [];
    for await (const { Items = [] } of paginateScan({ client }, scan))
      left.push(...Items.map((item) => unmarshall(item)));
    client.destroy();
    expect(unversioned.map(kindOf)).toEqual(expect.arrayContaining(left.map(kindOf)));
  });

  it("has every output that the commands of the release before know", () => {
    const { Outputs } = readAssembly(before.directory).template;
    expect(Object.keys(system.stack.outputs)).toEqual(expect.arrayContaining(Object.keys(Outputs)));
  });
});

/** What its sort key begins with: `STATE`, `CLAIM`. */
function kindOf(item: unknown): string | undefined {
  return z.object({ sk: z.string() }).parse(item).sk.split("#")[0];
}
