import {
  DeleteMessageCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { System } from "@income-events/local-stack/system.ts";
import { webhookKinds } from "@income-events/sandbox/webhooks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clockOfAlarms } from "../../support/clock-of-alarms.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { registerAtProvider, sendFollowed } from "../../support/webhooks.ts";
import { describeCommands } from "./commands.ts";
import { describeDoctor } from "./doctor.ts";
import { describeProviderFaults } from "./provider-faults.ts";

/** A rotation of the secret takes twice the receivers' cache time. */
const changes = { register: { readsFirst: true }, webhooks: { secretCacheSeconds: 1 } };

/** A running stage, whose commands' output is compared with the engines. */
describe("looking after a stage", () => {
  const clock = clockOfAlarms();
  let operated: OperatedStage;
  let system: System;
  let sqs: SQSClient;
  beforeAll(async () => {
    operated = await startOperatedStage("status", changes, {}, { alarmClock: clock.now });
    ({ system } = operated);
    sqs = new SQSClient(system.access);
  });
  afterAll(async () => {
    sqs.destroy();
    await operated?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => operated.output(name);
  const json = (...args: readonly string[]) => operated.json(...args);
  const section = (name: string) => json("status", "--section", name);
  const currentToken = () => Object(JSON.parse(system.stack.secretValue(output("TokenSecretArn")))).token;
  const setToken = (token: string) =>
    system.stack.setSecret(output("TokenSecretArn"), JSON.stringify({ token }));
  const receive = async (QueueUrl: string) => {
    const { Messages: [message] = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }),
    );
    return message;
  };

  describe("status", () => {
    const queueOf = async (name: string) => {
      const { queues } = await json("status");
      return queues.find((queue: { name: string }) => queue.name === name);
    };

    it("shows every queue in the data's order, with its messages, those in flight, and their age", async () => {
      const { queues } = await json("status");
      expect(queues.map(({ name }: { name: string }) => name)).toEqual([
        ...webhookKinds,
        "fetch",
        "checks",
        "erase",
        "subscriber/everything",
        "subscriber/accounts",
      ]);
      const QueueUrl = output("SubscriberAccountsQueueUrl");
      for (const MessageBody of ["one", "two", "three"]) {
        await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
      }
      const received = await receive(QueueUrl);
      const age = async () => (await queueOf("subscriber/accounts")).oldestSeconds;
      await expect.poll(age).toBeGreaterThan(0);
      expect(await queueOf("subscriber/accounts")).toMatchObject({ waiting: 2, inFlight: 1, deadLetters: 0 });
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: received?.ReceiptHandle }));
      await sqs.send(new PurgeQueueCommand({ QueueUrl }));
      const empty = await queueOf("subscriber/accounts");
      expect(empty).toMatchObject({ waiting: 0, inFlight: 0 });
      expect(empty).not.toHaveProperty("oldestSeconds");
    });

    it("shows the time of each kind's last event, and dead letters with their age", async () => {
      expect(await queueOf("endpoints")).not.toHaveProperty("lastSentAt");
      const begin = Math.floor(Date.now() / 60_000) * 60_000;
      // JSON that no mapping accepts goes through the queue and becomes a dead letter.
      await sendFollowed(system, "endpoints", '{"nothing":"known"}');
      await expect.poll(async () => (await queueOf("endpoints")).deadLetters).toBe(1);
      const { lastSentAt, oldestDeadLetterSeconds } = await queueOf("endpoints");
      expect(Date.parse(lastSentAt)).toBeGreaterThanOrEqual(begin);
      expect(oldestDeadLetterSeconds).toBeGreaterThanOrEqual(0);
      expect(await queueOf("users")).toMatchObject({ deadLetters: 0 });
      await sqs.send(new PurgeQueueCommand({ QueueUrl: output("EndpointsDeadLetterQueueUrl") }));
    });

    it("shows the token's lifetime, the webhooks at the provider, and the alarms", async () => {
      const before = currentToken();
      await setToken(await system.sandbox.issueToken(7_200));
      const { token, registrations, alarms } = await json("status");
      const left = (Date.parse(token.expiresAt) - Date.now()) / 1000;
      expect(left).toBeGreaterThan(7_000);
      expect(left).toBeLessThanOrEqual(7_200);
      expect(registrations.webhooks.map(({ type }: { type: string }) => type)).toEqual(Array(4).fill("here"));
      expect(alarms.map(({ name }: { name: string }) => name).toSorted()).toEqual(
        system.stack
          .alarms()
          .map(({ name }) => name)
          .toSorted(),
      );

      await system.stack.setSecret(output("TokenSecretArn"), "{}");
      // The third run raises the alarm: earlier, a new deployment had no time to set a token.
      await clock.passRuns(system.stack, async () => {
        const stderr = expect.stringContaining("npx income-events token set");
        expect(await operated.run(["token", "refresh"])).toMatchObject({ code: 1, stdout: "", stderr });
      });
      // The rest is shown even if the provider is down.
      system.sandbox.fault({ path: "/api/v0.3/webhooks/users", method: "GET", status: 503 });
      const { code, stdout } = await operated.run(["status"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^token +none is set$/m);
      expect(stdout).toMatch(/^webhooks +unknown: the provider answered 503$/m);
      expect(stdout).toMatch(/^alarms +\d+ of \d+ on; causes: npx income-events doctor$/m);
      expect(stdout).toMatch(/^ +token missing has been on for \d+/m);
      expect(stdout).toMatch(/^users +0 +0 /m);
      await setToken(before);
    });
  });

  describe("the token", () => {
    it("is shown by its claims and its lifetime, and is never shown itself", async () => {
      const token = currentToken();
      const { code, stdout } = await operated.run(["status", "--section", "token"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^ends +\S+ \(in /m);
      expect(stdout).toMatch(/^claim iss +"income-data-service"$/m);
      expect(stdout).toMatch(/^refused +no$/m);
      for (const part of String(token).split(".")) expect(stdout).not.toContain(part);
      const announced = JSON.stringify(await section("token"));
      for (const part of String(token).split(".")) expect(announced).not.toContain(part);
    });

    it("that is unreadable is shown by its known facts", async () => {
      const token = currentToken();
      await setToken("opaque");
      expect(await section("token")).toMatchObject({ isSet: true, storedBy: "operator" });
      expect((await operated.run(["status", "--section", "token"])).stdout).toMatch(
        /^ends +it does not say$/m,
      );
      await setToken(token);
    });

    it("is checked by the refresher, which replaces it well before its end, or on request", async () => {
      // Shorter than a refreshed token, so that the refreshed one is always newer.
      await setToken(await system.sandbox.issueToken(3_500));
      const before = currentToken();
      expect(await json("token", "refresh")).toMatchObject({ outcome: "kept" });
      expect(currentToken()).toBe(before);
      expect(await json("token", "refresh", "--now")).toMatchObject({ outcome: "refreshed" });
      expect(currentToken()).not.toBe(before);
      expect(await section("token")).toMatchObject({ storedBy: "refresh" });
    });

    it("that the provider refuses to refresh fails the command with the remedy", async () => {
      const before = currentToken();
      system.sandbox.fault({ path: "/api/v0.4/token/refresh", status: 401 });
      expect(await operated.run(["token", "refresh", "--now"])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/refuses to refresh the token.*token set < token\.txt/),
      });
      expect(currentToken()).toBe(before);
    });
  });

  it("--section webhooks reads the registrations from the provider, and changes nothing", async () => {
    const urls = () => webhookKinds.map((kind) => system.sandbox.webhook(kind)?.url);
    await registerAtProvider(system, "users", { url: "https://other.example/users" });
    const before = urls();
    const { webhooks } = await section("webhooks");
    expect(webhooks[0]).toMatchObject({
      kind: "users",
      type: "elsewhere",
      url: "https://other.example/users",
    });
    expect(webhooks[1]).toMatchObject({ kind: "accounts", type: "here", deployed: urls()[1] });
    const { stdout } = await operated.run(["status", "--section", "webhooks"]);
    expect(stdout).toMatch(/^users +elsewhere +https:\/\/other\.example\/users$/m);
    expect(urls()).toEqual(before);
    expect(await operated.run(["webhooks", "register", "--take-over", "--yes"])).toMatchObject({ code: 0 });
  });

  describe("subscribers", () => {
    it("are shown by --section subscribers, with filter and backlog", async () => {
      const QueueUrl = output("SubscriberAccountsQueueUrl");
      const deadLetters = output("SubscriberAccountsDeadLetterQueueUrl");
      for (const url of [QueueUrl, deadLetters, deadLetters]) {
        await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: "{}" }));
      }
      const { subscribers } = await section("subscribers");
      expect(subscribers).toMatchObject([
        { name: "everything", queueUrl: output("SubscriberEverythingQueueUrl") },
        { name: "accounts", types: ["account.*"], queueUrl: QueueUrl, waiting: 1, deadLetters: 2 },
      ]);
      const { stdout } = await operated.run(["status", "--section", "subscribers"]);
      expect(stdout).toMatch(/^everything +everything +0 /m);
      expect(stdout).toMatch(/^accounts +account\.\* +1 +0 +\d+\w+ +2 /m);
      for (const url of [QueueUrl, deadLetters]) await sqs.send(new PurgeQueueCommand({ QueueUrl: url }));
    });

    it("test sends one a message past its filter, marked as a test, and prints its id", async () => {
      const { message } = await json("subscribers", "test", "accounts");
      const received = await receive(output("SubscriberAccountsQueueUrl"));
      expect(JSON.parse(received?.Body ?? "")).toEqual(message);
      expect(message).toMatchObject({
        specversion: "1.0",
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        source: "/income-events/status",
        type: "subscriber.test",
        subject: "subscriber/accounts",
        data: { test: true },
      });
      const { queues } = await json("status");
      expect(queues.at(-2)).toMatchObject({ name: "subscriber/everything", waiting: 0 });
    });
  });

  describeDoctor(() => operated, clock, changes);
  describeProviderFaults(() => operated);
  describeCommands(() => operated);
});
