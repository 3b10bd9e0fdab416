import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { S3Client } from "@aws-sdk/client-s3";
import type { StreamSourcePlan } from "@income-events/local-stack/assembly/plan.ts";
import {
  type StreamSourceOptions,
  startStreamSource,
} from "@income-events/local-stack/sources/stream-source.ts";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { startTestProvider } from "../../../support/test-provider.ts";
import { scripted } from "../lambda/scripted-function.ts";
import { streamPlan } from "./stream-plan.ts";

type FakeShard = {
  readonly id: string;
  readonly parent?: string;
  readonly records: string[];
  isClosed: boolean;
};

/** A simulated stream with the service's API: local engines have one shard only. */
async function startFakeStream(shards: readonly FakeShard[]) {
  const answer = (operation: string, input: Record<string, string>): unknown => {
    if (operation === "DescribeStream") {
      const Shards = shards.map(({ id, parent, isClosed }) => ({
        ShardId: id,
        ParentShardId: parent,
        SequenceNumberRange: { StartingSequenceNumber: "0", ...(isClosed && { EndingSequenceNumber: "9" }) },
      }));
      return { StreamDescription: { Shards } };
    }
    if (operation === "GetShardIterator") {
      const shard = shards.find(({ id }) => id === input.ShardId);
      const start = input.ShardIteratorType === "LATEST" ? shard?.records.length : 0;
      return { ShardIterator: `${input.ShardId} ${start}` };
    }
    const [id, start] = (input.ShardIterator ?? "").split(" ");
    const shard = shards.find((candidate) => candidate.id === id);
    const records = shard?.records ?? [];
    return {
      Records: records.slice(Number(start)).map((number) => ({
        eventID: number,
        dynamodb: { SequenceNumber: number, ApproximateCreationDateTime: Date.now() / 1000 },
      })),
      ...(!shard?.isClosed && { NextShardIterator: `${id} ${records.length}` }),
    };
  };
  const service = await startTestProvider();
  service.answer = ({ headers, body }) => {
    const operation = String(headers["x-amz-target"]).split(".")[1] ?? "";
    return { json: answer(operation, JSON.parse(body)) };
  };
  return service;
}

async function follow(
  shards: readonly FakeShard[],
  startingPosition: StreamSourcePlan["startingPosition"],
  others: Partial<Pick<StreamSourceOptions, "now" | "onProblem">> = {},
) {
  const { url, close } = await startFakeStream(shards);
  const settings = {
    region: "eu-central-1",
    endpoint: url,
    credentials: { accessKeyId: "A", secretAccessKey: "B" },
  };
  const target = scripted([{ kind: "returned", payload: "null" }]);
  const clients = { streams: new DynamoDBStreamsClient(settings), s3: new S3Client(settings) };
  const source = startStreamSource({
    ...clients,
    plan: streamPlan({ startingPosition }),
    region: "eu-central-1",
    target,
    gateway: { intercept: () => () => {} },
    delay: async () => {},
    onProblem: (problem) => expect.unreachable(problem),
    ...others,
  });
  return {
    source,
    records: (): string[] =>
      target.events.flatMap((event) => {
        const { Records }: { Records: { eventID: string }[] } = JSON.parse(event);
        return Records.map(({ eventID }) => eventID);
      }),
    [Symbol.asyncDispose]: async () => {
      await source.close();
      for (const client of Object.values(clients)) client.destroy();
      await close();
    },
  };
}

describe("shards", () => {
  test("are read parents first, and children when their parent is closed and read to its end", async () => {
    const parent: FakeShard = { id: "parent", records: ["1", "2"], isClosed: false };
    const child: FakeShard = { id: "child", parent: "parent", records: ["4", "5"], isClosed: false };
    await using following = await follow([child, parent], "TRIM_HORIZON");
    await following.source.caughtUp();
    expect(following.records()).toEqual(["1", "2"]);
    parent.records.push("3");
    parent.isClosed = true;
    await eventually(() => expect(following.records()).toEqual(["1", "2", "3", "4", "5"]));
  });

  test("have lost what was not handed over for a day, and that is reported", async () => {
    const open: FakeShard = { id: "open", records: ["1", "2"], isClosed: false };
    const problems: string[] = [];
    let days = 1.01;
    await using following = await follow([open], "TRIM_HORIZON", {
      now: () => new Date(Date.now() + days * 86_400_000),
      onProblem: (problem) => problems.push(problem),
    });
    await following.source.caughtUp();
    expect(following.records()).toEqual([]);
    expect(problems).toEqual(["Mapping (open): the stream dropped 2 records before their turn"]);
    days = 0.99;
    open.records.push("3");
    await following.source.caughtUp();
    expect(following.records()).toEqual(["3"]);
  });

  test("at LATEST are read from what is written after the start", async () => {
    const open: FakeShard = { id: "open", records: ["1"], isClosed: false };
    const old = { id: "old", records: ["0"], isClosed: true };
    await using following = await follow([old, open], "LATEST");
    await following.source.caughtUp();
    open.records.push("2");
    await following.source.caughtUp();
    expect(following.records()).toEqual(["2"]);
  });
});
