import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asUtf8,
  compressionFormatOf,
  credentialFields,
  inspectPayload,
} from "../../../domain/event/payload.ts";

const inspect = (text: string) => inspectPayload(Buffer.from(text));

/** The stored part of a body. */
function keptOf(text: string): string {
  const payload = inspect(text);
  if (!payload.ok) throw new Error(payload.error);
  return Buffer.from(payload.bytes).toString();
}

function errorOf(text: string): string | undefined {
  const payload = inspect(text);
  return payload.ok ? undefined : payload.error;
}

describe("a body", () => {
  it("loses them even if their names are escaped or repeated", () => {
    expect(keptOf('{"\\u006cink":"one","link":"two","a":{"sessio\\u006e":"x"}}')).toBe('{"a":{}}');
  });

  it("loses them in any case, and keeps the rest as it is written, spaces and repeated names too", () => {
    for (const name of ["link", "LINK", "Session", "\\u006Cink"])
      expect(keptOf(`{"id":1,"data":[{"${name}":"secret"}]}`)).toBe('{"id":1,"data":[{}]}');
    expect(keptOf('{ "a" : 1, "link" : [ "}" ] , "a" : 1.0 , "session":"\\\\" }')).toBe(
      '{ "a" : 1 , "a" : 1.0 }',
    );
    expect(keptOf('{"link":1, "session":{"link":2}, "b":"\\"link\\""}')).toBe('{"b":"\\"link\\""}');
    expect(keptOf('[{"link":1},{"link":1,"link":2}]')).toBe("[{},{}]");
    expect(keptOf('{"a":"link","b":["session","link"]}')).toBe('{"a":"link","b":["session","link"]}');
  });

  it("keeps no trace of a credential anywhere", () => {
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

  it("may be any JSON value, not only an object", () => {
    for (const text of ["null", "5", '"link"', "[]", "true", '["link","session"]']) {
      expect(keptOf(text)).toBe(text);
    }
  });
});

describe("a body without credentials", () => {
  it("keeps its bytes as they are", () => {
    const text = ' { "links" : "kept", "\\u006e": 9007199254740993.10, "n": 1 }\n';
    const bytes = Buffer.from(text);
    const payload = inspectPayload(bytes);
    expect(payload).toEqual({ ok: true, bytes });
    expect(payload.ok && Buffer.from(payload.bytes).toString()).toBe(text);
  });
});

describe("a body that can't be read", () => {
  it("is described by its kind of error, with a position if there is one", () => {
    expect(errorOf("")).toBe("not JSON");
    expect(errorOf('{"a" 1}')).toBe("not JSON at position 5");
    expect(errorOf("\u0000")).toMatch(/^not JSON/);
    expect(errorOf("\uFEFF{}")).toMatch(/^not JSON/);
    expect(inspectPayload(Uint8Array.of(0x22, 0xff, 0x22))).toEqual({ ok: false, error: "not UTF-8" });
  });

  it("may be nested deeper than 100, and never makes the reader throw", () => {
    for (const depth of [101, 10_000, 200_000]) {
      expect(errorOf("[".repeat(depth) + "]".repeat(depth))).toBe("nested too deeply");
      expect(errorOf(`${'{"link":'.repeat(depth)}1${"}".repeat(depth)}`)).toBe("nested too deeply");
      expect(errorOf("[".repeat(depth))).toMatch(/^not JSON/);
    }
    expect(errorOf(`{"[{":"[[",${'"a":{'.repeat(99)}"[":1${"}".repeat(100)}`)).toBeUndefined();
  });

  it("is never quoted in its error, not even if it imitates the engine's own message", () => {
    const canaries = ["at position 78051120", "in JSON at position 78051120", "canary", "78051120"];
    for (const canary of canaries) {
      for (const text of [canary, `${canary} `, `{"a":${canary}`, `{"a":"${canary}`, `["${canary}" x]`]) {
        expect(errorOf(text) ?? "").not.toMatch(/78051120|canary/);
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
      fc.property(fc.array(piece), fc.array(piece), (before, after) => {
        const error = errorOf(`${before.join("")}${canary}${after.join("")}`);
        if (error !== undefined) expect(error).toMatch(/^not JSON( at position \d{1,4})?$/);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a body in another encoding", () => {
  const text = '{"a":"é€"}';
  const latin = Buffer.from('{"a":"é"}', "latin1");

  it.each<[string, Uint8Array, string | undefined, string]>([
    ["UTF-8", Buffer.from(text), undefined, text],
    ["UTF-8, whatever is claimed", Buffer.from(text), "application/json; charset=iso-8859-1", text],
    ["UTF-8 with a byte order mark", Buffer.from(`\uFEFF${text}`), undefined, text],
    ["UTF-16", Buffer.from(text, "utf16le"), undefined, text],
    ["UTF-16 of ASCII alone", Buffer.from('{"a":1}', "utf16le"), undefined, '{"a":1}'],
    ["UTF-16 that is called ISO-8859-1", Buffer.from("[1]", "utf16le"), "text/plain; charset=latin1", "[1]"],
    ["UTF-16 with a mark", Buffer.from(`\uFEFF${text}`, "utf16le").swap16(), "application/json", text],
    ["ISO-8859-1", latin, "application/json; charset=iso-8859-1", '{"a":"é"}'],
  ])("%s becomes UTF-8", (_, bytes, contentType, expected) => {
    expect(Buffer.from(asUtf8(bytes, contentType)).toString()).toBe(expected);
  });

  it.each<[string, Uint8Array, string | undefined]>([
    ["UTF-8", Buffer.from(text), undefined],
    ["ISO-8859-1 without a word", latin, undefined],
    ["text that is not JSON", Buffer.from("é", "latin1"), "text/plain; charset=iso-8859-1"],
    ["bytes", Buffer.of(0, 1, 2), undefined],
  ])("of %s is left as it is", (_, bytes, contentType) => {
    expect(asUtf8(bytes, contentType)).toBe(bytes);
  });
});

it("a body without bytes counts as null only if mapped headers report the event", () => {
  expect(inspectPayload(Buffer.of(), { "ce-type": "ping" })).toEqual({
    ok: true,
    bytes: Buffer.from("null"),
  });
  const bytes = Buffer.from("{}");
  expect(inspectPayload(bytes, { "ce-type": "ping" })).toEqual({ ok: true, bytes });
  expect(inspectPayload(Buffer.of())).toMatchObject({ ok: false });
  expect(inspectPayload(Buffer.of(0xff))).toEqual({ ok: false, error: "not UTF-8" });
});

it("a text may contain a credential if it has one's name in quotes, or an escape that may hide it", () => {
  const { names, mayBeIn } = credentialFields(["Link", "a.b"]);
  expect(names).toEqual(new Set(["link", "a.b"]));
  const texts = ['{"LINK":1}', '{"a.b":1}', '{"\\u006cink":1}', '{"link ":1}', '{"axb":1}', "link"];
  expect(texts.map(mayBeIn)).toEqual([true, true, true, false, false, false]);
  expect(credentialFields([]).mayBeIn('{"":1}')).toBe(false);
});

it.each([
  ["1f8b08", "gzip"],
  ["28b52ffd", "zstd"],
  ["7801", "deflate"],
  ["785e", "deflate"],
  ["789c", "deflate"],
  ["78da", "deflate"],
  ["7802", undefined],
  ["1f", undefined],
  ["28b52f", undefined],
  ["7b7d", undefined],
  ["", undefined],
])("bytes that begin with %s are compressed as %s", (hex, format) => {
  expect(compressionFormatOf(Buffer.from(hex, "hex"))).toBe(format);
});
