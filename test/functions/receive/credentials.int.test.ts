import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { identify } from "../../../domain/event/envelope.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { call, goodSecret, noon, receiverFixture, secretHeader } from "../support/receiver-fixture.ts";

const fixture = receiverFixture();
const { receiverOf, queued, deadLetters } = fixture;

describe("live credentials of users", () => {
  const canary = "canary-4711";
  const data = {
    id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    accounts_number: 12345678901234567890n,
    link: `https://connect.example/${canary}`,
    session: { token: canary, deep: [{ link: canary, session: canary }] },
    session_expires_at: "2026-11-21 13:00:00 UTC",
    accounts: [{ link: canary, name: "kept" }],
  };
  const text = (filler = "") =>
    JSON.stringify({ action: "create_user", session: canary, data, filler }, (_, value) =>
      typeof value === "bigint" ? JSON.rawJSON(String(value)) : value,
    );

  test.each<[string, string | Buffer]>([
    ["a body", text()],
    ["a base64-encoded body", Buffer.from(text())],
    ["a body whose field names are escaped", text().replaceAll('"link"', '"l\\u0069nk"')],
    ["a body that goes to the bucket", text("x".repeat(500_000))],
    ["a body in gzip that no header names", gzipSync(text())],
    ["a body in UTF-16", Buffer.from(`\uFEFF${text()}`, "utf16le")],
  ])("are neither queued nor kept nor logged: %s", async (_, body) => {
    expect(await call(receiverOf("users"), { body })).toEqual({ statusCode: 202 });
    const messages = [
      ...(await fixture.system.drain(fixture.queueUrl)),
      ...(await fixture.system.drain(fixture.deadLetterQueueUrl)),
    ];
    const keys = await fixture.bucket.keys();
    const objects = await Promise.all(keys.map((key) => fixture.bucket.bytes(key)));
    expect(messages).toHaveLength(1);
    const kept = [JSON.stringify(messages), ...keys, ...objects.map(String), fixture.logged].join("\n");
    expect(kept).not.toContain(canary);
    expect(kept).not.toContain(Buffer.from(canary).toString("base64").slice(0, 12));
  });

  test("are dropped, and nothing else: other fields stay, and numbers keep their digits", async () => {
    await call(receiverOf("users"), { body: text() });
    const [envelope] = await queued();
    expect(envelope?.id).toBe(identify("users", Buffer.from(text())));
    expect(envelope?.body).toEqual({
      type: "text",
      text:
        '{"action":"create_user","data":{"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7",' +
        '"accounts_number":12345678901234567890,"session_expires_at":"2026-11-21 13:00:00 UTC",' +
        '"accounts":[{"name":"kept"}]},"filler":""}',
    });
  });

  const broken = text().slice(0, -1);
  test.each<[string, WebhookKind, string | Buffer, Record<string, string>]>([
    ["breaks off", "users", broken, {}],
    ["breaks off within a credential", "users", text().slice(0, text().indexOf(canary) + canary.length), {}],
    ["is no UTF-8", "users", Buffer.concat([Buffer.from(text()), Buffer.from([0xff])]), {}],
    ["is large and breaks off", "users", text("x".repeat(500_000)).slice(0, -1), {}],
    ["is nested too deeply", "users", `${broken},"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, {}],
    ["is only a credential", "users", JSON.stringify(canary).slice(0, -1), {}],
    ["has no credential that one can see", "users", "no JSON", {}],
    ["came by another path", "accounts", broken, {}],
    ["names a credential in capitals", "endpoints", broken.toUpperCase(), {}],
    ["breaks off in UTF-16", "company-accounts", Buffer.from(broken, "utf16le"), {}],
    ["breaks off in UTF-16, the other way round", "accounts", Buffer.from(broken, "utf16le").swap16(), {}],
    ["breaks off within gzip", "accounts", gzipSync(text()).subarray(0, -5), { "content-encoding": "gzip" }],
    ["breaks off and was compressed", "accounts", gzipSync(broken), { "content-encoding": "gzip" }],
    ["breaks off within gzip that no header names", "endpoints", gzipSync(text()).subarray(0, -5), {}],
    ["breaks off in zstd that no header names", "accounts", zstdCompressSync(broken), {}],
    ["is not in its coding", "accounts", text(), { "content-encoding": "br" }],
    ["is in a coding that nobody knows", "accounts", btoa(text()), { "content-encoding": "base64" }],
    ["breaks off in such a coding", "accounts", broken, { "content-encoding": "utf-8" }],
  ])("answer 503, never 202, for a body that %s; nothing of it is kept", async (_, kind, body, coded) => {
    const receive = receiverOf(kind);
    for (const count of [1, 2]) {
      fixture.logged = "";
      const request = { body, headers: { [secretHeader]: goodSecret, ...coded } };
      expect(await call(receive, request)).toMatchObject({
        statusCode: 503,
        headers: { "retry-after": "30" },
      });
      await fixture.expectNothingKept();
      const lines = fixture.logged.trim().split("\n");
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? "")).toMatchObject({
        level: "ERROR",
        code: "WEBHOOK_NOT_KEPT",
        kind,
        count,
        correlationId: expect.stringMatching(/^[\w-]{43}$/),
        reason: expect.stringMatching(/^(not JSON|not UTF-8|nested too deeply|not in its content coding)/),
      });
      expect(fixture.logged).not.toContain(canary);
    }
  });

  test("request a reconciliation at most once an hour, however many webhooks are lost, and again if that failed", async () => {
    let time = noon.getTime();
    const asked: number[] = [];
    let isDown = true;
    const receive = receiverOf("users", {
      now: () => new Date(time),
      requestReconciliation: async () => {
        asked.push(time - noon.getTime());
        if (isDown) throw new Error("Lambda is down");
      },
    });
    for (const [minutes, body] of [
      [0, "no JSON"],
      [0.5, "no JSON"],
      [1, "no JSON"],
      [2, "{"],
      [60.4, "no JSON"],
      [60.5, "no JSON"],
      [61, JSON.stringify({ action: "create_user", data: { id: "u" } })],
    ] as const) {
      time = noon.getTime() + minutes * 60_000;
      const { statusCode } = await call(receive, { body });
      expect(statusCode).toBe(minutes === 61 ? 202 : 503);
      isDown = false;
    }
    expect(asked).toEqual([0, 0.5, 60.5].map((minutes) => minutes * 60_000));
  });

  test("cannot be in an empty body: it is stored as it is", async () => {
    expect(await call(receiverOf("users"), { body: "" })).toEqual({ statusCode: 202 });
    expect(await deadLetters()).toMatchObject([{ envelope: { body: { type: "text", text: "" } } }]);
  });
});
