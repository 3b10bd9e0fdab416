import {
  DescribeLogGroupsCommand,
  FilterLogEventsCommand,
  type FilterLogEventsCommandInput,
  PutLogEventsCommand,
  paginateFilterLogEvents,
} from "@aws-sdk/client-cloudwatch-logs";
import type { LogGroup } from "@income-events/local-stack/gateway/logs/logs.ts";
import { createFunctionLog } from "@income-events/local-stack/lambda/function-log.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { account, clients, type LocalSystem, region, startLocalSystem } from "./local-system.ts";

const begin = Date.parse("2026-11-21T12:00:00Z");
const lineOf = (second: number, fields: object) =>
  JSON.stringify({ timestamp: new Date(begin + second * 1000).toISOString(), level: "INFO", ...fields });

const newLog = () =>
  createFunctionLog(
    { name: "one", logGroupName: "one" },
    { region, account, authorize: () => ({ allowed: true, reason: "" }) },
    { onError: (message) => expect.unreachable(message) },
  );

describe("the logs API of the gateway, by AWS's own client", () => {
  let system: LocalSystem;
  const groups: LogGroup[] = [];
  beforeAll(async () => {
    const log = newLog();
    system = await startLocalSystem({ engines: { logs: { groups: () => groups } } });
    groups.push({ ...log, name: "stage-OneLogs" }, { ...log, name: "stage-TwoLogs" });
    for (let number = 0; number < 60; number += 1) groups.push({ ...log, name: `other-${number}` });
    log.write(lineOf(0, { code: "A", correlationId: "first-id" }));
    log.write("no JSON at all");
    log.write(lineOf(2, { code: "B", kind: "users", inner: { name: "ü" } }));
    log.write(lineOf(4, { code: "C", kind: "accounts", correlationIds: ["second-id"] }));
  });
  afterAll(async () => {
    await system?.close();
  });

  const filter = async (input: Partial<FilterLogEventsCommandInput> = {}) => {
    const command = new FilterLogEventsCommand({ logGroupName: "stage-OneLogs", ...input });
    return clients(system, system.operator).logs.send(command);
  };
  const secondsOf = async (input: Partial<FilterLogEventsCommandInput>) =>
    ((await filter(input)).events ?? []).map(({ timestamp = 0 }) => (timestamp - begin) / 1000);

  it.each<[string, readonly number[]]>([
    ["", [0, 0, 2, 4]],
    ['"first-id"', [0]],
    ['"first"', [0]],
    ['"irst-i"', []],
    ["%irst-i%", [0]],
    ["%first|second%", [0, 4]],
    ['{ $.code = "B" }', [2]],
    ['{ ($.code = "A") || ($.code = "C") }', [0, 4]],
    ['{ ($.code = "A" || $.code = "C") && $.kind = "acc*" }', [4]],
    ['{ $.inner.name = "ü" }', [2]],
    ["{ $.kind = %^user% }", [2]],
    ['{ $.correlationIds = "second-id" }', []],
  ])("selects by the filter pattern %s", async (filterPattern, seconds) => {
    expect(await secondsOf({ filterPattern })).toEqual(seconds);
  });

  it.each(["ERROR", "[a, b]", "{ $.code > 3 }", '{ $.code = "A" ', "%a(b)%", '"a" "b"', '{ ($.code = "A" }'])(
    "refuses a filter pattern that it does not know: %s",
    async (filterPattern) => {
      await expect(filter({ filterPattern })).rejects.toMatchObject({ name: "InvalidParameterException" });
    },
  );

  it("returns everything page by page, even if pages are empty, and continues after a limit", async () => {
    const long = newLog();
    groups.push({ ...long, name: "long-Logs" });
    const filler = "x".repeat(2_000);
    for (let second = 0; second < 2_000; second += 1)
      long.write(lineOf(second, { code: second === 1_500 ? "RARE" : "OFTEN", filler }));
    const { logs: client } = clients(system, system.operator);
    const read = async (input: Partial<FilterLogEventsCommandInput>) => {
      const pages: number[] = [];
      for await (const { events = [] } of paginateFilterLogEvents(
        { client },
        { logGroupName: "long-Logs", ...input },
      ))
        pages.push(events.length);
      return pages;
    };
    const all = await read({});
    expect(all.length).toBeGreaterThan(3);
    expect(all.reduce((one, other) => one + other, 0)).toBe(2_000);
    const rare = await read({ filterPattern: '{ $.code = "RARE" }' });
    expect(rare.filter((count) => count > 0)).toEqual([1]);
    expect(rare.length).toBeGreaterThan(3);
    const limited = await read({ startTime: begin + 1_990_000, limit: 4 });
    expect(limited.filter((count) => count > 0)).toEqual([4, 4, 2]);
    await expect(filter({ nextToken: "of another" })).rejects.toMatchObject({
      name: "InvalidParameterException",
    });
  });

  it("needs the permission on the log group, and refuses what it does not know", async () => {
    await expect(filter({ logGroupName: "gone" })).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
    const arn = `arn:aws:logs:${region}:${account}:log-group`;
    const reader = system.caller("reader", ["logs:FilterLogEvents", `${arn}:stage-OneLogs:*`]);
    const { logs: client } = clients(system, reader);
    await client.send(new FilterLogEventsCommand({ logGroupName: "stage-OneLogs" }));
    const denied = { name: expect.stringMatching(/^AccessDenied/) };
    await expect(
      client.send(new FilterLogEventsCommand({ logGroupName: "stage-TwoLogs" })),
    ).rejects.toMatchObject(denied);
    await expect(client.send(new DescribeLogGroupsCommand({}))).rejects.toMatchObject(denied);
    await expect(filter({ logStreamNames: ["one"] })).rejects.toThrow("FilterLogEvents with logStreamNames");
    await expect(
      client.send(
        new PutLogEventsCommand({ logGroupName: "stage-OneLogs", logStreamName: "one", logEvents: [] }),
      ),
    ).rejects.toThrow("the runner writes it");
  });
});
