import {
  InvokeCommand,
  type InvokeCommandInput,
  InvokeWithResponseStreamCommand,
} from "@aws-sdk/client-lambda";
import { createAsynchronousInvoker } from "@income-events/local-stack/lambda/asynchronous.ts";
import type { HostedFunction, Outcome } from "@income-events/local-stack/lambda/hosted-function.ts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type ScriptedFunction, scripted } from "../lambda/scripted-function.ts";
import { account, clients, region, startLocalSystem } from "./local-system.ts";

const arn = `arn:aws:lambda:${region}:${account}:function:work`;
const failed: Outcome = { kind: "failed", error: { errorType: "TypeError", errorMessage: "no" } };

let target: ScriptedFunction;
const functions = new Map<string, HostedFunction>();
const waits: number[] = [];
const invoker = createAsynchronousInvoker(async (milliseconds) => {
  waits.push(milliseconds);
});

const system = await startLocalSystem({ engines: { lambda: { functions, invoker } } });
afterAll(() => system.close());
const { lambda } = clients(system, system.operator);
beforeEach(() => {
  waits.length = 0;
  answering({ kind: "returned", payload: '{"done":true}' });
});

function answering(...outcomes: Outcome[]): void {
  target = scripted(outcomes);
  functions.set("Work", target);
}

async function invoke(input: Partial<InvokeCommandInput> = {}, caller = system.operator) {
  const { lambda } = clients(system, caller);
  const answer = await lambda.send(new InvokeCommand({ FunctionName: "work", Payload: "{}", ...input }));
  return { ...answer, text: Buffer.from(answer.Payload ?? []).toString() };
}

describe("an invocation that waits", () => {
  test("gives the event to the function and its result to the caller", async () => {
    const answer = await invoke({ Payload: '{"why":"test"}' });
    expect(answer).toMatchObject({ StatusCode: 200, ExecutedVersion: "$LATEST", text: '{"done":true}' });
    expect(answer.FunctionError).toBeUndefined();
    expect(target.events).toEqual(['{"why":"test"}']);
  });

  test("of a function that fails is answered 200 with its error and the header", async () => {
    answering(failed);
    const { StatusCode, FunctionError, text } = await invoke();
    expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: "Unhandled" });
    expect(JSON.parse(text)).toEqual({ errorType: "TypeError", errorMessage: "no" });
  });

  test("of a function at its concurrency is throttled", async () => {
    answering({ kind: "throttled" });
    await expect(invoke()).rejects.toMatchObject({
      name: "TooManyRequestsException",
      $metadata: { httpStatusCode: 429 },
    });
  });
});

describe("an invocation as event", () => {
  test("is accepted at once, whatever becomes of it, and tried again as every asynchronous event", async () => {
    answering(failed, failed, { kind: "returned", payload: "null" });
    expect(await invoke({ InvocationType: "Event" })).toMatchObject({ StatusCode: 202, text: "" });
    await expect.poll(() => invoker.pending()).toBe(0);
    expect(target.events).toHaveLength(3);
    expect(waits).toEqual([60_000, 120_000]);
  });

  test("accepts 1 MiB, while a synchronous one accepts 6 MB", async () => {
    const Payload = JSON.stringify("x".repeat(1_048_577));
    await expect(invoke({ Payload, InvocationType: "Event" })).rejects.toMatchObject({
      name: "RequestTooLargeException",
      $metadata: { httpStatusCode: 413 },
    });
    expect(target.events).toEqual([]);
    await invoke({ Payload });
    await expect(invoke({ Payload: JSON.stringify("x".repeat(6_291_556)) })).rejects.toMatchObject({
      name: "RequestTooLargeException",
    });
    expect(target.events).toHaveLength(1);
  });
});

describe("the function invoked", () => {
  test.each(["work", arn, `${account}:function:work`])("is named %s", async (FunctionName) => {
    expect(await invoke({ FunctionName })).toMatchObject({ StatusCode: 200 });
  });

  test.each(["other", arn.replace(region, "us-east-1"), arn.replace(account, "123456789012")])(
    "is unknown: %s",
    async (FunctionName) => {
      await expect(invoke({ FunctionName })).rejects.toMatchObject({
        name: "ResourceNotFoundException",
        $metadata: { httpStatusCode: 404 },
      });
      expect(target.events).toEqual([]);
    },
  );
});

describe("permission to invoke", () => {
  test("is lambda:InvokeFunction on the function's ARN, also for an event", async () => {
    const allowed = system.caller("invoker", ["lambda:InvokeFunction", arn]);
    expect(await invoke({}, allowed)).toMatchObject({ StatusCode: 200 });
    expect(await invoke({ InvocationType: "Event" }, allowed)).toMatchObject({ StatusCode: 202 });
    expect(system.gateway.calls().get("invoker lambda:Invoke")).toBe(2);
  });

  test.each<[string, string, string]>([
    ["nothing", "sqs:SendMessage", "*"],
    ["another function", "lambda:InvokeFunction", `${arn}-2`],
    ["another action", "lambda:GetFunction", arn],
  ])("is refused to who may only do %s", async (name, action, resource) => {
    const caller = system.caller(`may-${name.replace(" ", "-")}`, [action, resource]);
    await expect(invoke({}, caller)).rejects.toMatchObject({
      name: "AccessDeniedException",
      message: expect.stringContaining(`lambda:InvokeFunction on resource: ${arn}`),
      $metadata: { httpStatusCode: 403 },
    });
    expect(target.events).toEqual([]);
  });
});

test("versions and other operations are refused by name, and aliases that are not there", async () => {
  await expect(invoke({ Qualifier: "live" })).rejects.toThrow("it knows Invoke, without a version");
  await expect(invoke({ FunctionName: `${arn}:live` })).rejects.toThrow("Function not found");
  await expect(invoke({ InvocationType: "DryRun" })).rejects.toThrow("does not invoke as DryRun");
  const streaming = new InvokeWithResponseStreamCommand({ FunctionName: "work" });
  await expect(lambda.send(streaming)).rejects.toThrow("it knows Invoke");
});
