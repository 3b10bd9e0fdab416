import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { runProgram } from "../../support/program.ts";
import type { LookedUpStage } from "./looked-up-stage.ts";

const incomeDocument = z.object({
  data: z.array(z.object({ paid_at: z.string(), net: z.string(), currency: z.string() })),
});

/** What a first subscriber reads, with the README's program. */
export function describeReadmeProgram(use: () => LookedUpStage): void {
  it("the README's program prints each user's income by month, to the cent what the provider has", async () => {
    const { system, user, account, other } = use();
    const [, code = ""] = /```js\n([\s\S]*?)```/.exec(await readFile("README.md", "utf8")) ?? [];
    const subscriber = system.subscribers.find(({ name }) => name === "everything");
    await using program = runProgram("--input-type=module", ["-e", code], {
      AWS_ENDPOINT_URL: system.stack.gatewayUrl,
      AWS_REGION: system.stack.region,
      AWS_ACCESS_KEY_ID: subscriber?.credentials.accessKeyId ?? "",
      AWS_SECRET_ACCESS_KEY: subscriber?.credentials.secretAccessKey ?? "",
      SUBSCRIBER_QUEUE_URL: subscriber?.queueUrl ?? "",
    });

    const expected = monthsOf(user, system.sandbox.data(account, "income"));
    expect(expected.size).toBeGreaterThan(0);
    // The last line of a month counts: a later document adds to what an earlier one had.
    const printed = () =>
      new Map(
        program
          .output()
          .split("\n")
          .flatMap((line) => {
            const [, month, net] = /^(user\/\S+ \S+) (\S+) USD$/.exec(line) ?? [];
            return month === undefined || net === undefined ? [] : [[month, net] as const];
          }),
      );
    await expect
      .poll(() => [...printed()].filter(([month]) => month.includes(user)).toSorted())
      .toEqual([...expected].toSorted());
    await expect.poll(() => [...printed().keys()].some((month) => month.includes(other))).toBe(true);
  });
}

/** The provider's own sums in cents, without the product's code. */
function monthsOf(user: string, document: unknown): ReadonlyMap<string, string> {
  const cents = new Map<string, number>();
  for (const { paid_at, net } of incomeDocument.parse(document).data) {
    const month = `user/${user} ${paid_at.slice(0, 7)}`;
    cents.set(month, (cents.get(month) ?? 0) + Math.round(Number(net) * 100));
  }
  return new Map([...cents].map(([month, sum]) => [month, (sum / 100).toFixed(2)]));
}
