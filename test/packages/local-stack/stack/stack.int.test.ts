import { readFileSync } from "node:fs";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import {
  apiResources,
  functionResources,
  mappingResource,
  queueResource,
  receiving,
} from "../../../support/assembly.ts";
import { eventually } from "../../../support/eventually.ts";
import { started } from "./started.ts";

/** Ids of this process's child processes. */
function children(): string[] {
  const ids = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8");
  return ids.trim() === "" ? [] : ids.trim().split(" ");
}

test("an asset that throws is a problem of the stack, and fails every invocation", async () => {
  await using running = await started({
    assets: { Broken: "throw new Error('no settings');" },
    resources: { ...functionResources("Broken"), ...apiResources({ "GET /": "Broken" }) },
  });
  expect((await fetch(`${running.stack.apiUrl}/`)).status).toBe(500);
  expect(running.stack.problems().initErrors).toEqual(["Broken: Error: no settings"]);
});

test("queues have the attributes of the template", async () => {
  await using running = await started({
    resources: {
      ...queueResource("Dead", { MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true }),
      ...queueResource("Work", {
        DelaySeconds: 3,
        RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["Dead", "Arn"] }, maxReceiveCount: 7 },
      }),
    },
  });
  const attributes = async (name: string) => {
    const QueueUrl = running.url(name);
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
    return (await running.clients.sqs.send(command)).Attributes ?? {};
  };
  expect(await attributes("Dead")).toMatchObject({
    MessageRetentionPeriod: "1209600",
    VisibilityTimeout: "10",
  });
  const { RedrivePolicy, ...work } = await attributes("Work");
  expect(work).toMatchObject({ DelaySeconds: "3" });
  expect(JSON.parse(RedrivePolicy ?? "")).toMatchObject({
    deadLetterTargetArn: "arn:aws:sqs:eu-central-1:000000000000:Dead",
    maxReceiveCount: 7,
  });
});

test("drained fails at its deadline, naming what is left", async () => {
  await using running = await started({
    assets: { Store: "export const handler = () => { throw new Error('no'); };" },
    resources: {
      ...queueResource("Work", { VisibilityTimeout: 120 }),
      ...functionResources("Store", { allow: [receiving("Work")] }),
      ...mappingResource("Mapping", ["Work", "Arn"], "Store"),
    },
  });
  const QueueUrl = running.url("Work");
  await running.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" }));
  await eventually(() => {
    expect(running.stack.functions[0]?.counts()).toMatchObject({ errors: 1, running: 0 });
  });
  await expect(running.stack.drained({ deadline: 300 })).rejects.toThrow(
    `Not drained within 0.3 s: 1 messages in ${QueueUrl}`,
  );
});

describe("starting and ending", () => {
  test("closing ends every process, also of a function at work, and every listener", async () => {
    const before = children();
    const running = await started({
      assets: { Work: "console.log('up'); export const handler = () => new Promise(() => {});" },
      resources: {
        ...queueResource("Work1"),
        ...functionResources("Work", { allow: [receiving("Work1")] }),
        ...mappingResource("Mapping", ["Work1", "Arn"], "Work"),
        ...apiResources({ "GET /": "Work" }),
      },
    });
    const { stack } = running;
    const request = fetch(`${stack.apiUrl}/`).catch(() => "cut");
    const QueueUrl = running.url("Work1");
    await running.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" }));
    await eventually(() => expect(stack.functions[0]?.counts().running).toBe(2), 5);
    await running[Symbol.asyncDispose]();
    await request;
    expect(children()).toEqual(before);
    await expect(fetch(`${stack.apiUrl}/`)).rejects.toThrow();
    await expect(fetch(stack.gatewayUrl)).rejects.toThrow();
  });
});
