import { createHash, randomBytes, randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { storedEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { objectEraser } from "../../../adapters/s3/object-eraser.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { eventOf } from "../../domain/samples.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountsOnly, documentsUrl, hex, income, readingFixture } from "./reading.ts";

const text = `{"amount": 12345678901234567890.10, "when": "2026-01-01", "filler": "${"x".repeat(900)}"}`;

await describeOnTables("what subscribers read", (tables) => {
  const reading = readingFixture(tables);
  const { save, ask, path, connect } = reading;

  describe("of a document", () => {
    it("returns the provider's bytes, with their tag, digest and time", async () => {
      await save(text, 1_790_000_000_000);
      const { status, headers, bytes } = await ask(path());
      expect([status, bytes.toString()]).toEqual([200, text]);
      expect(headers).toMatchObject({
        etag: `"${hex(Buffer.from(text))}"`,
        vary: "Accept-Encoding",
        "last-modified": new Date(1_790_000_000_000).toUTCString(),
        "cache-control": "private, no-cache",
        "content-length": String(text.length),
        "repr-digest": `sha-256=:${createHash("sha256").update(text).digest("base64")}:`,
      });
    });

    it.each([
      ["in the item", text],
      ["in the bucket", JSON.stringify(randomBytes(40_000).toString("base64"))],
    ])(
      "%s is sent as stored to callers that accept gzip, with its own tag and digest, and has the same headers for HEAD",
      async (_, content) => {
        await save(content, 1);
        const { headers, bytes } = await ask(path(), { headers: { "accept-encoding": "br, gzip" } });
        expect(gunzipSync(bytes).toString()).toBe(content);
        expect(headers).toMatchObject({
          "content-encoding": "gzip",
          etag: `"${hex(Buffer.from(content))}-gzip"`,
          "repr-digest": `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`,
        });
        const whole = await ask(path());
        expect(whole.bytes.toString()).toBe(content);
        const head = await ask(path(), { method: "HEAD" });
        expect([head.headers, head.bytes.byteLength]).toEqual([whole.headers, 0]);
      },
    );

    it("is not sent again to a caller that has it, in either coding", async () => {
      await save(text, 1);
      for (const acceptEncoding of ["gzip", "identity"]) {
        const headers = { "accept-encoding": acceptEncoding };
        const { etag = "" } = (await ask(path(), { headers })).headers;
        const again = await ask(path(), { headers: { ...headers, "if-none-match": etag } });
        expect([again.status, again.bytes.byteLength, again.headers.etag]).toEqual([304, 0, etag]);
      }
    });

    it("of a range of dates is a separate document", async () => {
      await save("[1]", 1, { ...income, range: { start: "2026-01-01", end: "2026-01-31" } });
      expect((await ask(path())).status).toBe(404);
      expect((await ask(path("/2026-01-01..2026-01-31"))).bytes.toString()).toBe("[1]");
    });

    it("returns the requested version, or the one at a time", async () => {
      await save(text, 1_790_000_000_000);
      const time = new Date(1_790_000_000_000).toISOString();
      for (const query of ["?version=1790000000000", `?asOf=${time}`])
        expect((await ask(path(query))).bytes.toString()).toBe(text);
      await save("[]", 1_800_000_000_000);
      for (const query of ["?version=1790000000000", "?version=1", `?asOf=${time}`]) {
        const { status, headers, json } = await ask(path(query));
        const newest = documentsUrl.slice(0, -1) + path();
        expect(json()).toMatchObject({ type: "urn:income-events:problem:version-not-kept", newest });
        expect([status, headers.link]).toEqual([404, `<${newest}>; rel="latest-version"`]);
      }
    });

    it("that never existed, or that the provider no longer has, is not found", async () => {
      expect((await ask(path())).json()).toMatchObject({ type: "urn:income-events:problem:not-found" });
      await save(text, 1);
      await save(undefined, 2);
      expect((await ask(path())).json()).toMatchObject({ type: "urn:income-events:problem:not-found" });
    });

    it("of an erased subject gets the same answer as one that never existed, and so does an unknown endpoint", async () => {
      await save(text, 1_790_000_000_000);
      const href = path("?version=1790000000000");
      expect((await ask(href)).status).toBe(200);
      await storedEvents(reading.system.dynamodb, reading.table.name).erase(reading.account);
      const erased = await ask(href);
      for (const target of [
        `/v1/accounts/${randomUUID()}/documents/income`,
        path().replace("income", "nothing"),
      ]) {
        const { status, headers, bytes } = await ask(target);
        expect([erased.status, erased.headers, erased.bytes]).toEqual([status, headers, bytes]);
        expect(status).toBe(404);
      }
    });

    it("whose object is missing is an error, never an empty answer", async () => {
      await save(JSON.stringify(randomBytes(40_000).toString("base64")), 1);
      await objectEraser(reading.system.s3, reading.bucket.name).removeBelow(
        `data/account/${reading.account.id}/`,
      );
      const { status, json } = await ask(path());
      expect([status, json().type]).toEqual([500, "urn:income-events:problem:data-missing"]);
      expect(reading.logged).toEqual([
        expect.stringMatching(/^DOCUMENT_DATA_MISSING .* account\/.* income 500$/),
      ]);
    });

    it.each([
      [403, "AccessDenied", "is not authorized to perform: kms:Decrypt on this resource"],
      [400, "KMS.DisabledException", "the key is disabled"],
    ])(
      "whose object KMS refuses to decrypt, with %i %s, is unavailable, never missing",
      async (...refusal) => {
        const [status, errorType, message] = refusal;
        await save(JSON.stringify(randomBytes(40_000).toString("base64")), 1);
        const recover = reading.system.intercept(async ({ action }, phase) =>
          action === "s3:GetObject" && phase === "before" ? { status, errorType, message } : undefined,
        );
        const refused = await ask(path());
        recover();
        expect([refused.status, refused.json().type]).toEqual([503, "urn:income-events:problem:unavailable"]);
        expect(reading.logged).toEqual([expect.stringMatching(/^READ_FAILED /)]);
        expect((await ask(path())).status).toBe(200);
      },
    );

    it("is unavailable only while the table throttles", async () => {
      await save(text, 1);
      const endThrottling = reading.system.intercept(async ({ action }, phase) =>
        action === "dynamodb:GetItem" && phase === "before"
          ? { status: 400, errorType: "ThrottlingException", message: "injected by the test" }
          : undefined,
      );
      const { status, headers, json } = await ask(path());
      endThrottling();
      expect([status, headers["retry-after"]]).toEqual([503, "1"]);
      expect(json().type).toBe("urn:income-events:problem:unavailable");
      expect((await ask(path())).status).toBe(200);
    });

    it("is refused to a subscriber whose filter excludes it, even if it does not exist", async () => {
      expect((await ask(path(), accountsOnly)).status).toBe(403);
      await save(text, 1);
      const { status, bytes } = await ask(path(), accountsOnly);
      expect(status).toBe(403);
      expect(bytes.toString()).not.toContain("amount");
    });
  });

  describe("of a state", () => {
    it("contains what messages report about it, with the list of its documents", async () => {
      await connect();
      await save(text, 1_790_000_000_000);
      const { json } = await ask(`/v1/accounts/${reading.account.id}`);
      expect(json()).toEqual({
        subject: `account/${reading.account.id}`,
        sequence: "00000000000000000001",
        data: {
          accountId: reading.account.id,
          userId: reading.userId,
          connected: true,
          deleted: false,
          unconfirmed: false,
        },
        documents: [
          {
            endpoint: "income",
            href: `${documentsUrl.slice(0, -1)}${path("?version=1790000000000")}`,
            sha256: hex(Buffer.from(text)),
            size: text.length,
            contentType: "application/json",
            version: "1790000000000",
            observedAt: new Date(1_790_000_000_000).toISOString(),
          },
        ],
      });
    });

    it("has the attributes of the account's user if the settings map some", async () => {
      await connect();
      const attributes = { loanId: "L-1" };
      const user = eventOf("user.created", { userId: reading.userId, attributes });
      const records = versionedRecords(reading.system.dynamodb, reading.table.name);
      await records.reviseState({ kind: "user", id: reading.userId }, (state) => applyEvent(state, user, 1));
      const shown = { attributes, attributesSequence: "00000000000000000001" };
      const account = `/v1/accounts/${reading.account.id}`;
      expect((await ask(account)).json().data).not.toHaveProperty("attributes");
      expect((await ask(account, {}, { hasAttributes: true })).json()).toMatchObject({ data: shown });
      for (const path of [`/v1/users/${reading.userId}`, `/v1/users/${reading.userId}/accounts`]) {
        const body = (await ask(path, {}, { hasAttributes: true })).json();
        expect(body.accounts?.[0] ?? body).toMatchObject({ data: shown });
      }
    });

    it("lists no documents to a caller that may read none", async () => {
      await connect();
      await save(text, 1);
      const { status, json } = await ask(`/v1/accounts/${reading.account.id}`, accountsOnly);
      expect(status).toBe(200);
      expect(json()).not.toHaveProperty("documents");
    });

    it("is returned for each account of a user", async () => {
      await connect();
      const { json } = await ask(`/v1/users/${reading.userId}/accounts`, accountsOnly);
      const href = `${documentsUrl}v1/accounts/${reading.account.id}`;
      expect(json().accounts).toMatchObject([
        { subject: `account/${reading.account.id}`, href, data: { connected: true } },
      ]);
    });

    it.each(["users", "accounts", "company-accounts"])(
      "that does not exist is not found: %s",
      async (collection) => {
        expect((await ask(`/v1/${collection}/${randomUUID()}`)).status).toBe(404);
      },
    );
  });

  it("is logged by code and ids, with the reader", async () => {
    await save(text, 1);
    await ask(path());
    await ask(path(), accountsOnly);
    const about = `account/${reading.account.id} income`;
    expect(reading.logged).toEqual([
      `READ arn:aws:sts::222222222222:assumed-role/r ${about} 200`,
      `READ_REFUSED arn:aws:iam::333333333333:user/u ${about}`,
    ]);
  });
});
