import fc from "fast-check";
import { expect, it } from "vitest";
import { commandLine } from "../../../../packages/cli/core/text.ts";
import { anyCharacter } from "../../../support/any-character.ts";
import { shellWords } from "../../../support/command-line.ts";

// An argument of a program cannot contain NUL.
const argument = fc.oneof(
  fc.string({ unit: anyCharacter }).map((text) => text.replaceAll("\0", "")),
  fc.string({ unit: fc.constantFrom(..." \t\n'\"\\$`;&|<>()[]{}*?!#~=%^-ax") }),
  fc.constantFrom("", "-n", "--yes", "~", "=ls", "u1;touch FILE", "$(touch FILE)", "it's", "a\nb"),
);

it("a shell takes each argument for one word, byte for byte (law)", () => {
  fc.assert(
    fc.property(argument, fc.array(argument), (id, others) => {
      expect(shellWords(commandLine`npx show ${id} --all ${[id, ...others]}`)).toEqual([
        "show",
        id,
        "--all",
        id,
        ...others,
      ]);
    }),
  );
});

it("a word without special characters is not quoted", () => {
  const arn = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";
  expect(commandLine`aws kms enable-key --key-id ${arn}`).toBe(`aws kms enable-key --key-id ${arn}`);
  expect(commandLine`npx cdk deploy -c stage=${"prod"} --limit ${3}`).toBe(
    "npx cdk deploy -c stage=prod --limit 3",
  );
});
