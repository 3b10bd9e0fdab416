import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressesOf, printableAddresses } from "@income-events/local-stack/addresses.ts";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { printedFor, runProgram } from "../../support/program.ts";
import { python, pythonEnvironment, reachesLocalStack } from "../../support/python.ts";
import type { LookedUpStage } from "./looked-up-stage.ts";

const incomeDocument = z.object({
  data: z.array(z.object({ paid_at: z.string(), net: z.string(), currency: z.string() })),
});

/** The first code block in a language. */
const blockOf = (file: string, language: string) =>
  new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(readFileSync(file, "utf8"))?.[1] ?? "";

/** A new subscriber's programs from the documentation. */
export function describeShownPrograms(use: () => LookedUpStage): void {
  const title =
    "the program of %s prints each user's loan id and income by month, to the cent what the provider has";
  const inPython = [
    ["the Python reader's page", python, ["-c", blockOf("packages/subscriber-python/README.md", "python")]],
    ["the example in Python", python, ["examples/monthly-income/monthly_income.py"]],
  ] as const;
  it.each([
    ["the README", process.execPath, ["--input-type=module", "-e", blockOf("README.md", "js")]],
    ["the example in Node", process.execPath, ["examples/monthly-income/main.ts"]],
    // Debian 12 has an older boto3, which cannot call the local stack's queues.
    ...(reachesLocalStack ? inPython : []),
  ] as const)(title, (_, runtime, args) => printsIncome(runtime, args));

  it("names a program for each subscriber that prints its messages", async () => {
    const { system } = use();
    const details = printableAddresses(addressesOf(system), system, undefined);
    const commandOf = (name: string) => printedFor(name, details).command;
    expect(["everything", "inline", "accounts"].map(commandOf)).toEqual([
      "npx node examples/monthly-income/main.ts",
      "npx node examples/monthly-income/main.ts",
      "npx node examples/minimal/subscriber.ts",
    ]);
    const { environment } = printedFor("accounts", details);
    await using program = runProgram("examples/minimal/subscriber.ts", [], environment);
    await program.printed("account.created account/");
  });

  async function printsIncome(runtime: string, args: readonly string[]): Promise<void> {
    const { system, user, account, other, run } = use();
    const details = printableAddresses(addressesOf(system), system, undefined);
    const folder = await mkdtemp(join(tmpdir(), "income-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const environment = {
      ...pythonEnvironment,
      ...printedFor("everything", details).environment,
      INCOME_DATABASE: join(folder, "income.sqlite"),
    };
    // The previous program took the messages. Runs twice: a repeated message must not change the sums.
    for (const _ of [1, 2])
      expect(await run(["replay", "--subscriber", "everything", "--yes"])).toMatchObject({ code: 0 });
    const [file = "", ...others] = args;
    await using program = runProgram(file, others, environment, runtime);

    const expected = monthsOf(`user/${user} L-1001`, system.sandbox.data(account, "income"));
    expect(expected.size).toBeGreaterThan(0);
    // Only a month's last line counts: later documents add to earlier ones.
    const printed = () =>
      new Map(
        [...program.output().matchAll(/^(user\/\S+ \S+ \S+) (\S+) USD$/gm)].map(
          ([, income = "", net = ""]) => [income, net] as const,
        ),
      );
    await expect
      .poll(() => [...printed()].filter(([month]) => month.includes(user)).toSorted())
      .toEqual([...expected].toSorted());
    await expect.poll(() => [...printed().keys()].some((month) => month.includes(other))).toBe(true);
  }
}

/** Output of `subscribers tail`. */
export function describeSubscribersTail(use: () => LookedUpStage): void {
  it("subscribers tail shows what a subscriber is sent without reading its queue, with attributes and income once they are revealed", async () => {
    const reads = () => use().system.stack.gateway.calls().get("operator sqs:ReceiveMessage") ?? 0;
    const before = reads();
    const tail = (...flags: string[]) =>
      runProgram("packages/cli/main.ts", [
        ...["subscribers", "tail", "inline", "--stage", "looking-up"],
        ...flags,
      ]);
    await using masked = tail();
    await using revealed = tail("--reveal");
    await masked.printed("Following what inline is sent");
    await revealed.printed("Following what inline is sent");
    await use().system.sandbox.createUsers(1, { metadata: { loan_id: "L-7" } });
    await revealed.printed(" USD");
    const line = /data\.updated +account\/\S+\/income .* \{"loanId":"L-7"\} {2}\d{4}-\d{2} \d+\.\d{2} USD/;
    expect(revealed.output()).toMatch(line);
    await masked.printed("/income ");
    expect(masked.output()).toContain('{"loanId":"(text)"}');
    expect(masked.output()).not.toMatch(/L-7| USD/);
    expect(reads()).toBe(before);
  });
}

/**
 * The provider's own sums in cents, calculated without the product's code.
 * @param of the field that determines the month
 */
function monthsOf(of: string, document: unknown): ReadonlyMap<string, string> {
  const cents = new Map<string, number>();
  for (const { paid_at, net } of incomeDocument.parse(document).data) {
    const month = `${of} ${paid_at.slice(0, 7)}`;
    cents.set(month, (cents.get(month) ?? 0) + Math.round(Number(net) * 100));
  }
  return new Map([...cents].map(([month, sum]) => [month, (sum / 100).toFixed(2)]));
}
