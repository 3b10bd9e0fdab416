import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "../../../lib/construct/props");

type Member = {
  readonly name: string;
  readonly optional: boolean;
  readonly type: string;
  readonly doc: string;
};

/** The members of the interfaces in a file, each with the comment above it. */
function membersOf(file: string): readonly Member[] {
  const text = readFileSync(join(folder, file), "utf8");
  const found = text.matchAll(
    /^(?: {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)? {2}readonly ("?[\w-]+"?)(\?)?:\s*([^;]+);/gm,
  );
  return [...found].map(([, doc = "", name = "", optional, type = ""]) => ({
    name: `${file} ${name}`,
    optional: optional !== undefined,
    type,
    doc: doc.replace(/^ *\* ?/gm, "").trim(),
  }));
}

const members = globSync("*.ts", { cwd: folder }).flatMap(membersOf);
const namesOf = (found: readonly Member[]) => found.map(({ name }) => name);

describe("the typed properties of the construct", () => {
  it("are there for each group of settings", () => {
    expect(members.length).toBeGreaterThan(100);
  });

  it("say in words what each does", () => {
    expect(namesOf(members.filter(({ doc }) => !/^[^@\s]/.test(doc)))).toEqual([]);
  });

  it("name what is in the place of each that is left out", () => {
    const group = /^\w+Props$/;
    const silent = members.filter(
      ({ optional, type, doc }) => optional && !group.test(type) && !/^@default \S/m.test(doc),
    );
    expect(namesOf(silent)).toEqual([]);
  });

  it("have the unit of each time in its name", () => {
    const times = members.filter(({ type, doc }) => type === "number" && /^So long|\bwaits?\b/.test(doc));
    expect(times.length).toBeGreaterThan(10);
    expect(namesOf(times.filter(({ name }) => !/(Seconds|Minutes|Hours|Days)$/.test(name)))).toEqual([]);
  });
});
