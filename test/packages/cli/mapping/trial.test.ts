import fc from "fast-check";
import { expect, it } from "vitest";
import { jmespathSearch } from "../../../../adapters/aws/jmespath-search.ts";
import { type WebhookKind, webhookKinds } from "../../../../domain/event/events.ts";
import { checkMapping } from "../../../../packages/cli/core/stage-settings.ts";
import { trialText, tryMapping } from "../../../../packages/cli/mapping/trial.ts";
import { fixtureText } from "../../../fixtures/field/fixture-text.ts";
import { anyCharacter } from "../../../support/any-character.ts";
import { mapping } from "./providers.ts";

const unusual = ["__proto__", "constructor", "toString", "id", "event", "type", "account_id", "data", "time"];
const name = fc.oneof(fc.constantFrom(...unusual), fc.string({ unit: anyCharacter, maxLength: 8 }));
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    "linked",
    "2026-03-01T12:00:00Z",
    1_772_368_496,
    "evt_1",
    "constructor",
    null,
    true,
  ),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.double({ noNaN: true }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const deep = ["[".repeat(50_000), `${"[".repeat(5_000)}1${"]".repeat(5_000)}`, '{"__proto__":{"id":"x"}}'];
const bytes = fc.oneof(
  value.map((json) => Buffer.from(JSON.stringify(json) ?? "null")),
  fc.uint8Array().map((content) => Buffer.from(content)),
  fc.constantFrom(...deep).map((text) => Buffer.from(text)),
);
const headers = fc.dictionary(fc.oneof(name, fc.constantFrom("ce-type", "ce-id", "ce-subject")), fc.string());

/** Tries a stage's own mapping with a body. */
const tryOwn = (kind: WebhookKind, part: object, body: unknown) => {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const own = checkMapping({ production: false, mapping: { [kind]: part } }, "own");
  return tryMapping(kind, own[kind], { name: "sample", bytes, headers: {} }, jmespathSearch);
};
const tryTime = (occurred_at: unknown) =>
  tryOwn(
    "accounts",
    { time: "occurred_at", ids: "any" },
    { event: "connect_account", account_id: "a-1", occurred_at },
  );

it("a time that can't be true is shown as ignored, and the event as unordered", () => {
  const trial = tryTime("2126-11-26 12:00:00 UTC");
  expect(trial).toMatchObject({ mapped: true, isUnordered: true });
  expect(trial.fields).toContainEqual(
    expect.objectContaining({ field: "time", fault: expect.stringContaining("ignored") }),
  );
});

it.each([
  [1_772_368_496, "Unix seconds"],
  [1_772_368_496_789, "Unix milliseconds"],
  ["1772368496789123456", "Unix nanoseconds"],
  ["Sun, 01 Mar 2026 12:34:56 GMT", "RFC 1123"],
  ["2026-03-01 13:34:56", "ISO 8601 without a zone: UTC"],
])("the trial says how a time is read: %s", (time, readAs) => {
  const trial = tryTime(time);
  expect(trial.fields).toContainEqual(expect.objectContaining({ field: "time", readAs }));
  expect(trialText(trial)).toContain(`read as ${readAs}`);
});

it.each([
  ["list-of-two.json", "company-accounts", { events: "@", ids: "any" }, ["co-2", "co-1"]],
  ["multi-endpoint.json", "endpoints", {}, ["income", "profile"]],
] as const)("every event of a webhook is shown: %s", (file, kind, part, said) => {
  const trial = tryOwn(kind, part, fixtureText(file));
  if (!("events" in trial)) throw new Error("no list");
  expect(trial).toMatchObject({ mapped: true, events: said.map(() => ({ mapped: true })) });
  expect(new Set(trial.events.map((event) => "id" in event && event.id)).size).toBe(said.length);
  const text = trialText(trial);
  for (const [index, each] of said.entries()) {
    expect(text).toContain(`Event ${index + 1} of ${said.length}`);
    expect(text).toContain(each);
  }
});

it("an event of a list that is not mapped has its own reason and remedy, and fails the webhook's trial", () => {
  const list = [
    { action: "connect_account", account_id: "a" },
    { action: "link", account_id: "b" },
  ];
  const reason = 'type: mapping.types translates no event name "link"';
  expect(tryOwn("accounts", { events: "@", ids: "any" }, list)).toMatchObject({
    ...{ mapped: false, reason },
    events: [
      { mapped: true },
      { mapped: false, reason, remedy: expect.stringContaining("account.connected") },
    ],
  });
});

it("a list where none is expected is refused with the place of the list", () => {
  const body = { a: { b: [{ action: "connect_account" }, { action: "delete_account" }] } };
  expect(tryOwn("accounts", { type: "a.b[0].action" }, body)).toMatchObject({
    mapped: false,
    reason: "type: takes one of several elements of a list and drops the others; see mapping.events",
    remedy: expect.stringContaining('perhaps "a.b"'),
  });
});

it("trying a mapping ends with an event or a reason and a remedy, whatever the sample contains", () => {
  const settings = fc.constantFrom(
    checkMapping({}, "default"),
    checkMapping({ production: false, mapping }, "own"),
  );
  const sample = fc.record({ name: fc.constant("sample"), bytes, headers });
  fc.assert(
    fc.property(settings, fc.constantFrom(...webhookKinds), sample, (stage, kind, given) => {
      const trial = tryMapping(kind, stage[kind], given, jmespathSearch);
      if (!trial.mapped) expect(trial.reason && trial.remedy).toBeTruthy();
      expect(trialText(trial).replaceAll("\n", "")).not.toMatch(/\p{Cc}|\p{Cf}/u);
      expect(Object.prototype).not.toHaveProperty("id");
    }),
    { numRuns: 400 },
  );
});
