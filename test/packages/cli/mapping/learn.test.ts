import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../../adapters/aws/jmespath-search.ts";
import { type WebhookKind, webhookKinds } from "../../../../domain/event/events.ts";
import { type Lesson, learn } from "../../../../packages/cli/mapping/learn.ts";
import { lessonText, settingsOf, trialText } from "../../../../packages/cli/mapping/report.ts";
import { parseSample, readSample, type Sample } from "../../../../packages/cli/mapping/sample.ts";
import { checkMapping } from "../../../../packages/cli/mapping/stage-mapping.ts";
import { tryMapping } from "../../../../packages/cli/mapping/trial.ts";
import { inventedProviders, samplesOf } from "./providers.ts";

function learnFrom(kind: WebhookKind, samples: readonly Sample[]): Lesson {
  const read = samples.map((sample) => readSample(sample));
  return learn(
    kind,
    read.flatMap((sample) => ("refused" in sample ? [] : [sample])),
  );
}

const bodies = (...values: readonly unknown[]): readonly Sample[] =>
  values.map((value, index) => parseSample(`${index}.json`, Buffer.from(JSON.stringify(value))));

const findings = ({ findings: list }: Lesson) =>
  Object.fromEntries(list.map(({ field, source }) => [field, source]));

describe.each(inventedProviders)("samples of an invented provider with $name", (provider) => {
  const taught = [...new Set(provider.files.map(({ kind }) => kind))];
  it.each(taught)("teach a mapping of %s by which all of them become the right events", (kind) => {
    const samples = samplesOf(provider, kind);
    const lesson = learnFrom(kind, samples);
    const mapping = checkMapping(settingsOf([lesson]), "learned")[kind];
    const events = samples.map((sample) => {
      const trial = tryMapping(kind, mapping, sample, jmespathSearch);
      return trial.mapped ? trial.event : trial.reason;
    });
    const said = provider.files
      .filter((file) => file.kind === kind)
      .map(({ says }) => expect.objectContaining(says));
    expect(events, JSON.stringify(lesson, null, 1)).toEqual(said);
  });

  it("teach the same each time", () => {
    for (const kind of taught) {
      const samples = samplesOf(provider, kind);
      expect(learnFrom(kind, samples)).toEqual(learnFrom(kind, samples));
    }
  });
});

describe("what is learned", () => {
  const account = (more: object) => ({ event: "account_linked", account_id: "a-1", ...more });

  it("is sure of plain names, and less so of what fits several fields", () => {
    const lesson = learnFrom(
      "accounts",
      bodies({ action: "linked", account_id: "a-1" }, { action: "unlinked", account_id: "a-1" }),
    );
    expect(lesson.findings.map(({ field, confidence }) => [field, confidence])).toEqual([
      ["type", "high"],
      ["accountId", "high"],
    ]);
    const vague = learnFrom(
      "accounts",
      bodies({ action: "linked", id: "a-1" }, { action: "unlinked", id: "a-1" }),
    );
    expect(vague.findings).toMatchObject([
      { field: "type" },
      { field: "accountId", source: "id", confidence: "medium" },
    ]);
  });

  it("finds an id by its values where no name helps, and says that it is little more than a guess", () => {
    const lesson = learnFrom(
      "accounts",
      bodies(
        { action: "linked", kennung: "k-1", note: "hello" },
        { action: "unlinked", kennung: "k-1", note: "bye" },
      ),
    );
    expect(lesson.findings).toContainEqual(
      expect.objectContaining({ field: "accountId", source: "kennung", confidence: "low" }),
    );
  });

  it("takes an id that never recurs, or has an event's form, for the event's", () => {
    const lesson = learnFrom("users", bodies({ event: "user.added", id: "evt_1", data: { id: "u1" } }));
    expect(findings(lesson)).toMatchObject({ userId: "data.id", eventId: "id" });
    const retried = bodies(account({ request_id: "r-1", n: 1 }), account({ request_id: "r-1", n: 2 }));
    expect(findings(learnFrom("accounts", retried))).not.toHaveProperty("eventId");
  });

  it("takes no time that may be the record's, and says why", () => {
    const same = learnFrom(
      "accounts",
      bodies(...[1, 2].map((n) => account({ n, created_at: "2026-03-01 12:00:00 UTC" }))),
    );
    expect(findings(same)).not.toHaveProperty("time");
    expect(same.notes).toEqual([
      expect.stringContaining("created_at was not taken for the event's time: it is the same"),
    ]);
    const once = learnFrom("accounts", bodies(account({ created_at: "2026-03-01 12:00:00 UTC" })));
    expect(findings(once)).not.toHaveProperty("time");
    expect(once.notes).toEqual([
      expect.stringContaining("created_at may be the event's time or the record's"),
    ]);
    const changing = [1, 2].map((n) => account({ n, created_at: `2026-03-01 12:00:0${n} UTC` }));
    expect(findings(learnFrom("accounts", bodies(...changing)))).toMatchObject({ time: "created_at" });
  });

  it("joins places of samples that are flat and nested, a false among them", () => {
    const samples = bodies(
      { event: "linked", account_id: "a-1", connected: true },
      { event: "unlinked", data: { account_id: "a-1", connected: false } },
    );
    const lesson = learnFrom("accounts", samples);
    expect(findings(lesson)).toMatchObject({
      accountId: "account_id || data.account_id",
      connected: "[connected, data.connected][*] | [0]",
    });
    const { accounts } = checkMapping(settingsOf([lesson]), "learned");
    const events = samples.map((sample) => tryMapping("accounts", accounts, sample, jmespathSearch));
    expect(events).toMatchObject([{ event: { connected: true } }, { event: { connected: false } }]);
  });

  it("says what was not found, and which event names mean nothing to it", () => {
    const lesson = learnFrom("endpoints", bodies({ event: "gone_fishing" }, { event: "data_ready" }));
    expect(lesson.notes).toEqual([
      expect.stringContaining("accountId was not found"),
      expect.stringContaining("endpoint was not found"),
      expect.stringContaining('"gone_fishing" names no change that is known'),
    ]);
    expect(learnFrom("users", []).notes).toHaveLength(2);
  });

  it("quotes names that are no words of JMESPath", () => {
    const lesson = learnFrom("accounts", bodies({ "event.type": "linked", "account-id": "a-1" }));
    expect(findings(lesson)).toMatchObject({ type: '"event.type"', accountId: '"account-id"' });
  });

  it("proposes no name that every object has: the evaluator can't compile it", () => {
    for (const name of ["toString", "constructor", "__proto__"]) {
      const body = `{"${name}":"linked","account_id":"a-1"}`;
      const lesson = learnFrom("accounts", [parseSample("a.json", Buffer.from(body))]);
      expect(findings(lesson)).toEqual({ accountId: "account_id" });
    }
  });

  it("proposes no header that may hold a credential", () => {
    const headers = "x-event-type: linked\nx-account-token-id: a-1\nauthorization: a-2\n\n{}";
    const lesson = learnFrom("accounts", [parseSample("a.http", Buffer.from(headers))]);
    expect(JSON.stringify(lesson)).not.toMatch(/a-1|a-2|token|authorization/);
  });
});

describe("whatever samples hold", () => {
  const name = fc.oneof(
    fc.constantFrom(
      "__proto__",
      "constructor",
      "toString",
      "id",
      "event",
      "type",
      "account_id",
      "user_id",
      "data",
      "time",
    ),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
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
    fc.string({ unit: "binary", maxLength: 20 }),
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
  const content = fc.oneof(
    value.map((json) => Buffer.from(JSON.stringify(json) ?? "null")),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        "[".repeat(50_000),
        `${"[".repeat(5_000)}1${"]".repeat(5_000)}`,
        '{"__proto__":{"id":"x"}}',
      )
      .map((text) => Buffer.from(text)),
  );
  const headers = fc.dictionary(
    fc.oneof(name, fc.constantFrom("ce-type", "ce-id", "ce-time", "ce-subject")),
    fc.string(),
  );

  it("learning ends with settings that the synthesis takes, and trying with an event or a reason", () => {
    const samples = fc.array(fc.record({ content, headers }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...webhookKinds), samples, (kind, list) => {
        const given = list.map((one, index) => ({
          name: `${index}`,
          bytes: one.content,
          headers: one.headers,
        }));
        const lesson = learnFrom(kind, given);
        const mapping = checkMapping(settingsOf([lesson]), "learned");
        for (const sample of given) {
          const trial = tryMapping(kind, mapping[kind], sample, jmespathSearch);
          if (!trial.mapped) expect(trial.reason && trial.remedy).toBeTruthy();
          expect((trialText(trial) + lessonText([lesson])).replaceAll("\n", "")).not.toMatch(
            /\p{Cc}|\p{Cf}/u,
          );
        }
        expect(Object.prototype).not.toHaveProperty("id");
      }),
      { numRuns: 400 },
    );
  });
});
