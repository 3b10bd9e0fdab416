import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { nameOf, synthesized } from "../synthesized.ts";
import { findNeeds, recordOf } from "./find-needs.ts";
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
  const recorded = [...record.matchAll(/^\w+ \S+ (\S+)(?=: )/gm)].map(([line]) => line);
  expect(recorded.map(asNamed).toSorted()).toEqual(allowed.map(asNamed).toSorted());
  expect(record).not.toMatch(/: nothing$/m);
});

it("a permission that no call needs is recorded as one that nothing needs, unless a test is named for it", () => {
  const of = (role: string, action: string, resource: string) => ({
    role,
    action,
    resource,
    isNeeded: false,
  });
  const queue = "arn:aws:sqs:eu-central-1:000000000000:income-events-local-UsersWorkQueueB8BF5EE5";
  const bucket = "arn:aws:s3:::income-events-local-overflowbucket8a14bf62/data/*";
  const needs = findNeeds(
    [
      of("UsersStoreFunction0A1B2C3D", "sqs:DeleteMessage", queue),
      of("UsersStoreFunction0A1B2C3D", "sqs:GetQueueAttributes", queue),
      of("RelayChangesFunction0A1B2C3D", "s3:DeleteObject", bucket),
      { ...of("ReadDocumentsFunction0A1B2C3D", "s3:GetObject", bucket), isNeeded: true },
    ],
    "income-events-local",
  );
  expect(needs).toEqual([
    { role: "UsersStore", action: "sqs:DeleteMessage", resource: "UsersWorkQueue", need: undefined },
    {
      role: "UsersStore",
      action: "sqs:GetQueueAttributes",
      resource: "UsersWorkQueue",
      need: "the creation of its event source",
    },
    {
      role: "RelayChanges",
      action: "s3:DeleteObject",
      resource: "overflowbucket/data/*",
      need: expect.stringContaining("test/functions/relay/relay-expiry.int.test.ts"),
    },
    {
      role: "ReadDocuments",
      action: "s3:GetObject",
      resource: "overflowbucket/data/*",
      need: "a call of the scenario",
    },
  ]);
  expect(recordOf(needs)).toContain("UsersStore sqs:DeleteMessage UsersWorkQueue: nothing\n");
});
