import { basename } from "node:path";

export type TestResult = { readonly file: string; readonly title: string; readonly status: string };

/** Reads the report of vitest's JSON reporter. @throws if it is none */
export function parseReport(report: unknown): readonly TestResult[] {
  return listAt(report, "testResults").flatMap((file) =>
    listAt(file, "assertionResults").map((result) => ({
      file: basename(textAt(file, "name")),
      title: textAt(result, "title"),
      status: textAt(result, "status"),
    })),
  );
}

function fieldAt(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) throw new TypeError("the report is none of vitest's");
  return Reflect.get(value, name);
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const list = fieldAt(value, name);
  if (!Array.isArray(list)) throw new TypeError(`the report has no list ${name}`);
  return list;
}

function textAt(value: unknown, name: string): string {
  const text = fieldAt(value, name);
  if (typeof text !== "string") throw new TypeError(`the report has no text ${name}`);
  return text;
}
