import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { nameOf, synthesized } from "../synthesized.ts";
import { ofEachKind } from "./find-needs.ts";
import { allowedBy } from "./roles.ts";

const root = join(import.meta.dirname, "../../..");
const readText = (file: string) => readFileSync(join(root, file), "utf8");
/** Result of test/lib/function/needed-permissions.proof.test.ts. */
const record = readText("test/lib/function/needed-permissions.txt");

/** A line with its resource as a template names it, without the parts that only ARNs have. */
const asNamed = (line: string) =>
  line
    .replace(/(\.fifo|:\*)$/, "")
    .replace(/\.StreamArn$/, "/stream/*")
    .toLowerCase();

it("the record of the sweep has each permission of each role of the stage local, and needs each", () => {
  const settings = z.looseObject({}).parse(JSON.parse(readText("stages/local.json")));
  const roles = synthesized(settings, "local").ofType("AWS::IAM::Role");
  const allowed = roles.flatMap((role) =>
    allowedBy(role).map((pair) => `${nameOf(role.id).replace(/Role$/, "")} ${pair}`),
  );
  const recorded = record.split("\n").flatMap(ofEachKind);
  const permissions = recorded.flatMap((line) => /^\w+ \S+ \S+(?=: )/.exec(line)?.[0] ?? []);
  expect(permissions.map(asNamed).toSorted()).toEqual(allowed.map(asNamed).toSorted());
  expect(record).not.toMatch(/: nothing$/m);
});
