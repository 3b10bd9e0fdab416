import { expect, it } from "vitest";
import { z } from "zod";
import type { LookedUpStage } from "./looked-up-stage.ts";

const logged = z.object({
  from: z.literal("logs"),
  count: z.number(),
  events: z.array(z.looseObject({ id: z.string(), at: z.string(), kind: z.string(), outcome: z.string() })),
});

/** Events of all accounts in the logs. */
export function describeHistory(use: () => LookedUpStage): void {
  const idsOf = (events: readonly { event: { id: string } }[]) =>
    events.map(({ event }) => event.id).toSorted();
  const listLogged = async (...flags: string[]) => {
    const before = readsOfTable();
    const result = await use().run(["events", "list", "--json", ...flags]);
    expect(result).toMatchObject({ code: 0 });
    expect(readsOfTable()).toBe(before);
    return logged.parse(result.json());
  };
  /** Reads of the table, which must all be queries. */
  const readsOfTable = () =>
    [...use().system.stack.gateway.calls()]
      .filter(([call]) => /^operator dynamodb:(?!Query$)/.test(call))
      .reduce((sum, [, count]) => sum + count, 0);

  it("lists all events from the functions' logs, by type, kind, endpoint and text, with their subjects and without a scan", async () => {
    const all = await use().storedEvents();
    const found = async (...flags: string[]) =>
      (await listLogged(...flags)).events.map(({ id }) => id).toSorted();
    expect(await found("--limit", "500")).toEqual(idsOf(all));
    const ofAccounts = all.filter(({ event }) => event.type.startsWith("account."));
    expect(await found("--type", "account.*", "--kind", "accounts")).toEqual(idsOf(ofAccounts));
    const ofIncome = all.filter(({ event }) => event.endpoint === "income");
    expect(ofIncome.length).toBeGreaterThan(0);
    expect(await found("--endpoint", "income")).toEqual(idsOf(ofIncome));
    const [one] = idsOf(all);
    expect(await found("--text", one?.slice(5, 20) ?? "")).toEqual([one]);
    expect(await found("--outcome", "rejected")).toEqual([]);
    const account = String(ofAccounts[0]?.event.accountId);
    const { events } = await listLogged("--text", account, "--type", "account.*");
    expect(events.length).toBeGreaterThan(0);
    for (const { subject } of events) expect(subject).toBe(`account/${account}`);
  });

  it("lists newest first, by time and up to a limit, and reports how many more there are", async () => {
    const { events } = await listLogged("--since", "1h", "--limit", "500");
    const times = events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    const middle = times[Math.floor(times.length / 2)] ?? "";
    const since = await listLogged("--since", middle, "--limit", "500");
    expect(since.events.map(({ at }) => at)).toEqual(times.filter((time) => time >= middle));
    const few = await listLogged("--limit", "2");
    expect(few.events.map(({ at }) => at)).toEqual(times.slice(0, 2));
    expect(few.count).toBe(times.length);
    const { stdout } = await use().run(["events", "list", "--limit", "2"]);
    expect(stdout).toMatch(/^RECEIVED +TYPE +SUBJECT +TIMES +OUTCOME/);
    expect(stdout).toContain(`${times.length - 2} more`);
  });
}
