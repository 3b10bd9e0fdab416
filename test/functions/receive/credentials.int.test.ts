import { describe, expect, test } from "vitest";
import { identify } from "../../../domain/event/identify.ts";
import { call, receiverFixture } from "../support/receiver-fixture.ts";

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
    ["a body that breaks off", text().slice(0, -1)],
    ["a body that breaks off within a credential", text().slice(0, text().indexOf(canary) + canary.length)],
    ["a body that is no UTF-8", Buffer.concat([Buffer.from(text()), Buffer.from([0xff])])],
    ["a large body that breaks off", text("x".repeat(500_000)).slice(0, -1)],
    [
      "a body that is nested too deeply",
      `${text().slice(0, -1)},"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    ],
    ["a body that is only a credential", JSON.stringify(canary).slice(0, -1)],
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

  test("are all that is dropped: other fields stay, and numbers keep their digits", async () => {
    await call(receiverOf("users"), { body: text() });
    const [envelope] = await queued();
    expect(envelope?.id).toBe(identify("users", Buffer.from(text())));
    expect(envelope?.body).toEqual({
      as: "text",
      text:
        '{"action":"create_user","data":{"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7",' +
        '"accounts_number":12345678901234567890,"session_expires_at":"2026-11-21 13:00:00 UTC",' +
        '"accounts":[{"name":"kept"}]},"filler":""}',
    });
  });

  test("of an unreadable body only length and error are kept", async () => {
    await call(receiverOf("users"), { body: "no JSON" });
    expect(await deadLetters()).toMatchObject([
      { envelope: { body: { as: "withheld", bytes: 7, error: expect.stringMatching(/^not JSON/) } } },
    ]);
  });
});
