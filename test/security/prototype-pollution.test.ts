import { afterEach, describe, expect, it } from "vitest";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { readClaims, readTokenLifetime } from "../../adapters/secrets/token-claims.ts";
import { FailureError } from "../../domain/core/failures.ts";
import { parseWebhookSecret } from "../../domain/core/webhook-secret.ts";
import { readEnvelope } from "../../domain/event/envelope.ts";
import { mapPayload, parseMapping } from "../../domain/event/mapping.ts";
import { pickHeaders } from "../../domain/event/mapping-source.ts";
import { inspectPayload } from "../../domain/event/payload.ts";
import { dataIn } from "../../domain/fetch/answer.ts";
import { readTask } from "../../domain/fetch/task.ts";
import { readEraseTask } from "../../domain/recovery/erasure.ts";
import { readListed, readSlice } from "../../domain/state/listing.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { parseSettings, SettingsError } from "../../lib/settings/settings.ts";
import { parseSample } from "../../packages/cli/mapping/sample.ts";
import { createProgram } from "../../packages/cli/program.ts";
import { inMemory } from "../../packages/subscriber/memory.ts";
import { createReader } from "../../packages/subscriber/reader.ts";

/** Names by which a careless copy reaches the prototype of all objects. */
const poison =
  '"__proto__":{"polluted":1,"connected":false},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}';
const poisoned = (fields: string) => `{${poison},${fields}}`;
const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
const search = jmespathSearch;

const polluted = () =>
  [{}, [], () => undefined, "", 0].map((value) => Reflect.get(Object(value), "polluted"));

afterEach(() => {
  expect(polluted()).toEqual([undefined, undefined, undefined, undefined, undefined]);
});

/** Inherited properties are ignored. */
function unlessRefused(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    if (error instanceof FailureError || error instanceof SettingsError) return error.message;
    throw error;
  }
}

describe("names that every object has, from outside, change nothing that they are not", () => {
  it("in a webhook's body", () => {
    const body = poisoned(`"event":"connect_account","account_id":"${id}"`);
    expect(inspectPayload(Buffer.from(body))).toMatchObject({ ok: true });
    const facts = mapPayload(defaultMapping.accounts, JSON.parse(body), search);
    expect(facts).toEqual({ type: "account.connected", accountId: id });
    const hidden = `{"__proto__":${body}}`;
    expect(() => mapPayload(defaultMapping.accounts, JSON.parse(hidden), search)).toThrow(/names no event/);
  });

  it("in a webhook's headers", () => {
    const headers = Object.fromEntries([
      ["__proto__", "x"],
      ["ce-id", "1"],
    ]);
    expect(pickHeaders(["ce-id", "constructor", "toString"], headers)).toEqual({ "ce-id": "1" });
    expect(parseSample("a.http", Buffer.from("__proto__: x\n\n{}")).headers).toEqual(
      Object.fromEntries([["__proto__", "x"]]),
    );
  });

  it.each([
    "__proto__",
    "constructor",
    "constructor.prototype",
    "prototype",
    "toString",
    "[].constructor",
    "@.__proto__.polluted",
  ])("in a mapping's expression: %s", (expression) => {
    const settings = { production: false, mapping: { accounts: { userId: expression } } };
    const judged = unlessRefused(() => parseSettings(settings, "stage.json"));
    if (typeof judged === "string") return expect(judged).toContain("mapping.accounts.userId");
    const payload = { event: "connect_account", account_id: id };
    const mapping = { ...defaultMapping.accounts, userId: expression };
    expect(unlessRefused(() => mapPayload(mapping, payload, search))).toEqual({
      type: "account.connected",
      accountId: id,
    });
  });

  it("in the settings, at any depth, where they are refused by name", () => {
    const refusal = unlessRefused(() =>
      parseSettings(JSON.parse(poisoned('"production":false')), "stage.json"),
    );
    expect(refusal).toMatch(/^ {2}__proto__: no such setting/m);
    expect(refusal).toMatch(/^ {2}constructor: no such setting/m);
    const deep = JSON.parse(
      `{"production":false,"provider":{${poison}},"mapping":{"users":{"types":{"__proto__":"user.created"}}}}`,
    );
    expect(unlessRefused(() => parseSettings(deep, "stage.json"))).toMatch(
      /provider\.__proto__: no such setting/,
    );
    expect(unlessRefused(() => parseSettings(JSON.parse('{"__proto__":{"production":false}}'), "s"))).toMatch(
      /production: is missing/,
    );
  });

  it("in what the functions read of their settings", () => {
    const mapping = parseMapping(
      JSON.parse(
        poisoned('"type":"event","types":{"__proto__":"user.created","a":"user.deleted"},"ids":"any"'),
      ),
    );
    for (const name of ["constructor", "toString", "polluted"]) {
      expect(() => mapPayload({ ...mapping, type: "event" }, { event: name }, search)).toThrow(/type: /);
    }
  });

  it("in the provider's answers", () => {
    const paging = { by: "cursor", items: "data", next: "next", parameter: "c", maxPages: 10 } as const;
    const reader = { name: "reconcile.users", ids: "any", id: "id" } as const;
    const page = readSlice(
      reader,
      dataIn(poisoned(`"data":[{${poison},"id":"a"},{"__proto__":{"id":"b"}}]`)),
      paging,
    );
    expect(readListed(reader, page.items[0], search)).toEqual({ id: "a" });
    expect(() => readListed(reader, page.items[1], search)).toThrow(/finds nothing/);
    expect(() => readSlice(reader, dataIn('{"__proto__":{"data":[]}}'), paging)).toThrow(/finds no list/);
  });

  it("in a token", () => {
    const jwt = `e30.${Buffer.from(poisoned('"exp":1')).toString("base64url")}.`;
    expect(readTokenLifetime(jwt)).toEqual({ expiresAt: 1 });
    expect(Object.keys(readClaims(jwt) ?? {})).toContain("exp");
    const hidden = `e30.${Buffer.from('{"__proto__":{"exp":1}}').toString("base64url")}.`;
    expect(readTokenLifetime(hidden)).toEqual({});
  });

  it("in messages, tasks and secrets", async () => {
    for (const read of [readEnvelope, readTask, readEraseTask]) {
      expect(() => read(`{"__proto__":{"schemaVersion":1,"kind":"users","type":"start"}}`)).toThrow(
        FailureError,
      );
    }
    expect(parseWebhookSecret('{"__proto__":{"current":"x"}}')).toBeUndefined();
    const read = createReader({ memory: inMemory(), handle: () => expect.fail("handled") });
    for (const type of ["__proto__", "constructor", "toString"]) {
      expect(await read(poisoned(`"type":"${type}","data":{}`))).toMatchObject({
        settled: false,
        type: "unreadable",
      });
    }
  });

  it.each([
    ["__proto__"],
    ["constructor"],
    ["events", "__proto__"],
    ["status", "--__proto__=x"],
    ["--constructor"],
  ])("in arguments: %s %s", async (...args) => {
    const program = await createProgram(args[0]);
    program.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    for (const command of program.commands) command.configureOutput({ writeErr: () => undefined });
    await expect(program.parseAsync(args, { from: "user" })).rejects.toThrow(
      /unknown (command|option)|\(outputHelp\)/,
    );
  });
});
