import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { webhookKinds } from "../../../domain/event/events.ts";
import { inspectPayload } from "../../../domain/event/payload.ts";

const others = webhookKinds.filter((kind) => kind !== "users");
const inspect = (text: string, kind: (typeof webhookKinds)[number] = "users") =>
  inspectPayload(kind, Buffer.from(text));

/** What is left of a users' body. */
function keptOf(text: string): string {
  const payload = inspect(text);
  if (!payload.ok) throw new Error(payload.error);
  return Buffer.from(payload.bytes).toString();
}

function errorOf(text: string, kind: (typeof webhookKinds)[number] = "users"): string | undefined {
  const payload = inspect(text, kind);
  return payload.ok ? undefined : payload.error;
}

describe("a users' body", () => {
  it("loses link and session at any depth, and nothing else", () => {
    expect(keptOf('{"action":"create_user","data":{"id":"u","link":"l","session":"s","n":1}}')).toBe(
      '{"action":"create_user","data":{"id":"u","n":1}}',
    );
    expect(
      keptOf('{"link":{"a":1},"list":[{"session":["s"],"b":{"link":null}}],"session_expires_at":"t"}'),
    ).toBe('{"list":[{"b":{}}],"session_expires_at":"t"}');
  });

  it("loses them too where their names are escaped or stand twice", () => {
    expect(keptOf('{"\\u006cink":"one","link":"two","a":{"sessio\\u006e":"x"}}')).toBe('{"a":{}}');
  });

  it("keeps no trace of a credential wherever it stands", () => {
    const canary = "canary-9f3c";
    const tree = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>(1, "x", null),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "data", "__proto__", ""), tie("node"), { maxKeys: 3 }),
        fc.record({ link: fc.constant(canary), session: fc.constant([{ deep: canary }]), a: tie("node") }),
      ),
    })).node;
    fc.assert(
      fc.property(tree, (value) => {
        const kept = keptOf(JSON.stringify(value));
        expect(kept).not.toContain(canary);
        const strip = (part: unknown): unknown => {
          if (Array.isArray(part)) return part.map(strip);
          if (typeof part !== "object" || part === null) return part;
          const fields = Object.entries(part).filter(([name]) => name !== "link" && name !== "session");
          return Object.fromEntries(fields.map(([name, inner]) => [name, strip(inner)]));
        };
        expect(kept).toBe(JSON.stringify(strip(value)));
      }),
      { numRuns: 300 },
    );
  });

  it("keeps the digits of its numbers", () => {
    for (const number of ["9007199254740993", "12345678901234567890", "1.10", "1e400", "-0", "0.1E-7"]) {
      expect(keptOf(`{"n":${number}}`)).toBe(`{"n":${number}}`);
    }
  });

  it("keeps __proto__ and constructor as plain names, and pollutes nothing", () => {
    const text = '{"__proto__":{"isAdmin":true,"link":"x"},"constructor":{"prototype":{"p":1}}}';
    expect(keptOf(text)).toBe('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"p":1}}}');
    expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
    expect(Reflect.get({}, "p")).toBeUndefined();
  });

  it("may be any JSON value, not an object alone", () => {
    for (const text of ["null", "5", '"link"', "[]", "true", '["link","session"]']) {
      expect(keptOf(text)).toBe(text);
    }
  });
});

describe("another kind's body", () => {
  it("loses link and session all the same, in any case: it may be a user's that came by a wrong path", () => {
    for (const name of ["link", "LINK", "Session", "\\u006Cink"]) {
      const payload = inspectPayload("accounts", Buffer.from(`{"id":1,"data":[{"${name}":"secret"}]}`));
      expect(payload.ok && Buffer.from(payload.bytes).toString()).toBe('{"id":1,"data":[{}]}');
    }
  });

  it("keeps its bytes as they are", () => {
    const text = ' { "links" : "kept", "\\u006e": 9007199254740993.10, "n": 1 }\n';
    for (const kind of others) {
      const bytes = Buffer.from(text);
      const payload = inspectPayload(kind, bytes);
      expect(payload).toEqual({ ok: true, bytes });
      expect(payload.ok && Buffer.from(payload.bytes).toString()).toBe(text);
    }
  });
});

describe("a body that can't be read", () => {
  it("is described by its kind of error, with a position where there is one", () => {
    expect(errorOf("")).toBe("not JSON");
    expect(errorOf('{"a" 1}')).toBe("not JSON at position 5");
    for (const kind of webhookKinds) {
      expect(errorOf("\u0000", kind)).toMatch(/^not JSON/);
      expect(errorOf("\uFEFF{}", kind)).toMatch(/^not JSON/);
      expect(inspectPayload(kind, Uint8Array.of(0x22, 0xff, 0x22))).toEqual({
        ok: false,
        error: "not UTF-8",
      });
    }
  });

  it("never makes the reader throw at a depth of 10,000 or 200,000", () => {
    for (const kind of webhookKinds) {
      for (const depth of [10_000, 200_000]) {
        for (const text of [
          "[".repeat(depth) + "]".repeat(depth),
          `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
          "[".repeat(depth),
        ]) {
          const payload = inspect(text, kind);
          if (!payload.ok) expect(payload.error).toMatch(/^(nested too deeply|not JSON.*)$/);
        }
      }
    }
  });

  it("is never quoted in its error, not even where it imitates the engine's own message", () => {
    const canaries = ["at position 78051120", "in JSON at position 78051120", "canary", "78051120"];
    for (const canary of canaries) {
      for (const text of [canary, `${canary} `, `{"a":${canary}`, `{"a":"${canary}`, `["${canary}" x]`]) {
        for (const kind of webhookKinds) {
          expect(errorOf(text, kind) ?? "").not.toMatch(/78051120|canary/);
        }
      }
    }
  });

  it("is never quoted in its error, however it is broken", () => {
    const canary = "7805112093";
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "{",
        "}",
        "[",
        '"',
        ",",
        ":",
        "\\",
        '{"a":',
        " in JSON at position ",
        "(line 1 column 7)",
      ),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...webhookKinds),
        fc.array(piece),
        fc.array(piece),
        (kind, before, after) => {
          const error = errorOf(`${before.join("")}${canary}${after.join("")}`, kind);
          if (error !== undefined) expect(error).toMatch(/^not JSON( at position \d{1,4})?$/);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
