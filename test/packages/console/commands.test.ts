import { describe, expect, it } from "vitest";
import { createProgram } from "../../../packages/cli/program.ts";
import * as commands from "../../../packages/console/page/commands.ts";
import { shellWords } from "../../support/command-line.ts";

const program = await createProgram();

/** Options of a command line that the command does not have. */
function unknownOptions([group, name, ...words]: readonly string[]): readonly string[] {
  const first = program.commands.find((each) => each.name() === group);
  const command = first?.commands.find((each) => each.name() === name) ?? first;
  const known = command?.options.map(({ long }) => long) ?? [];
  return words.filter((word) => word.startsWith("--") && !known.includes(word));
}

describe.each(["u1;touch FILE", "$(touch FILE)", "`touch FILE`", "it's\n& touch FILE"])(
  "the commands that a page offers for %j",
  (nasty) => {
    const document = { kind: "account", id: nasty, endpoint: nasty, dates: nasty, version: nasty };
    const ofDocument = ["account", nasty, nasty, "--dates", nasty, "--of-version", nasty, "--changes"];
    it.each<[string, string, readonly string[]]>([
      ["records", commands.record({ kind: "user", id: nasty }), ["records", "show", "user", nasty]],
      ["event", commands.event(nasty), ["events", "show", nasty]],
      ["event's timeline", commands.logs(nasty), ["logs", nasty, "--since", "7d"]],
      ["document", commands.document(document), ["documents", "get", ...ofDocument]],
      [
        "events",
        commands.events({ since: "7d", text: nasty, user: "" }),
        ["events", "list", "--since", "7d", "--text", nasty],
      ],
      [
        "dead letters",
        commands.deadLetters("redrive", nasty, { reason: nasty, archive: true, limit: 1_000 }),
        ["dlq", "redrive", nasty, "--reason", nasty, "--archive", "--limit", "1000"],
      ],
      [
        "subscribers",
        commands.replay({ name: nasty, since: nasty }),
        ["replay", "--subscriber", nasty, "--since", nasty, "--dry-run"],
      ],
      ["provider", commands.provider(nasty), ["status", "--section", "provider", "--since", nasty]],
      ["mapping", commands.mapping(nasty), ["mapping", "try", "webhook.json", "--kind", nasty]],
    ])("on the page of %s pass it on as one argument", (_, command, words) => {
      expect(shellWords(command)).toEqual(["income-events", ...words]);
      expect(unknownOptions(words)).toEqual([]);
    });
  },
);
