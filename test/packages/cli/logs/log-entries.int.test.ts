import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createClients } from "../../../../packages/cli/core/clients.ts";
import { entryText, selectEntries, stageLogLines } from "../../../../packages/cli/logs/log-entries.ts";
import { startWireAws, type WireAws } from "../../../support/wire-aws.ts";

const line = (second: number, level: string, more: object = {}) =>
  JSON.stringify({ timestamp: `2026-11-21T12:00:0${second}.000Z`, level, code: "EVENT_STORED", ...more });
const lines = [
  line(3, "INFO", { function: "relay/changes", correlationIds: ["event-one", "event-two"] }),
  line(1, "INFO", { function: "receive/users", correlationId: "event-one", requestId: "r" }),
  line(2, "ERROR", { function: "store/users", correlationId: "event-two" }),
  "no line of a function's own",
  "",
];
const since = "2026-11-21T12:00:00.000Z";
const seconds = (filter: object) =>
  selectEntries(lines, { since, ...filter }).map(({ timestamp }) => Number(timestamp.slice(17, 19)));

test("the lines of one id are followed through all functions, in order", () => {
  expect(seconds({ text: "event-one" })).toEqual([1, 3]);
  expect(seconds({})).toEqual([1, 2, 3]);
});

test("lines are chosen by time and by the lowest level", () => {
  expect(seconds({ since: "2026-11-21T12:00:02.000Z" })).toEqual([2, 3]);
  expect(seconds({ level: "WARN" })).toEqual([2]);
});

test("an entry is one line: time, level, function, code and subject", () => {
  const [first] = selectEntries(lines, { since, text: "event-one" });
  expect(first && entryText(first)).toBe(
    '2026-11-21T12:00:01.000Z  INFO   receive/users  EVENT_STORED  correlationId="event-one"',
  );
});

describe("the logs of a stage", () => {
  let aws: WireAws;
  beforeAll(async () => {
    aws = await startWireAws();
    for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await aws[Symbol.asyncDispose]();
  });

  const stack = (
    ...resources: readonly (readonly [id: string, type: string, name: string, status?: string])[]
  ) => {
    const members = resources.map(
      ([id, type, name, status = "CREATE_COMPLETE"]) =>
        `<member><LogicalResourceId>${id}</LogicalResourceId><ResourceType>${type}</ResourceType>` +
        `<PhysicalResourceId>${name}</PhysicalResourceId><ResourceStatus>${status}</ResourceStatus></member>`,
    );
    aws.answers.set("ListStackResources", {
      body: `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join("")}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`,
    });
  };
  const read = async (search: { functions?: RegExp } = {}) => {
    using clients = createClients({ client: { region: "eu-central-1" } });
    const deployment = {
      ...{ stage: "prod", stack: "app", resourcePrefix: "app-Payroll", resources: /^Payroll(?!Test)/ },
      ...{ client: { region: "eu-central-1" }, output: () => "", optionalOutput: () => undefined },
    };
    return stageLogLines({ deployment, clients }, { since: new Date(since), ...search });
  };
  const logGroup = "AWS::Logs::LogGroup";

  test("are read from the groups that its stack lists, whatever their names", async () => {
    stack(
      ["PayrollUsersReceiveLogs1A2B", logGroup, "renamed-by-an-emulator"],
      ["PayrollUsersStoreLogs1A2B", logGroup, "app-PayrollUsersStoreLogs1A2B-x"],
      ["PayrollUsersReceiveFunction1A2B", "AWS::Lambda::Function", "app-function"],
      ["PayrollWebhooksAccessLog1A2B", logGroup, "access-log"],
      ["PayrollTestUsersReceiveLogs1A2B", logGroup, "another-pipeline"],
      ["PayrollRelayLogs1A2B", logGroup, "deleted", "DELETE_COMPLETE"],
    );
    aws.answers.set("FilterLogEvents", ({ body }) => ({
      body: JSON.stringify({ events: [{ message: JSON.parse(body).logGroupName }] }),
    }));
    expect(await read()).toEqual(["renamed-by-an-emulator", "app-PayrollUsersStoreLogs1A2B-x"]);
    expect(await read({ functions: /StoreLogs/ })).toEqual(["app-PayrollUsersStoreLogs1A2B-x"]);
  });

  test("fail with a message if no group was searched, instead of being empty", async () => {
    stack(["PayrollWebhooksAccessLog1A2B", logGroup, "access-log"]);
    await expect(read()).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining("No logs were searched: the stack app lists no log group"),
    });
  });
});
