import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { guardedApi, unguardedApi } from "../../../functions/runtime/provider-client.ts";
import { describeOnTables } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";
import { startTestProvider } from "../../support/test-provider.ts";
import { provider } from "../support/fetcher-settings.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const call = { method: "GET", path: "/users" } as const;
const patience = { now: () => noon, patienceInSeconds: 0 };

// Three windows of one call.
const settings = { ...provider, requestsPerMinute: 5, breaker: { ...provider.breaker, failures: 1 } };

const remote = await startTestProvider();
afterAll(() => remote.close());

await describeOnTables("all callers together", (tables) => {
  const made = systemWithTable(tables);
  beforeEach(async () => {
    vi.stubEnv("TABLE_NAME", (await made.system.createTable()).name);
    vi.stubEnv("PROVIDER_BASE_URL", remote.url);
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    remote.requests.length = 0;
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  /** Environments as each function creates them. */
  const environments = () =>
    Array.from({ length: 4 }, () => guardedApi({ table: made.system.dynamodb }, settings, patience));
  const callEach = async () => {
    const made = await Promise.allSettled(environments().map((each) => each.send("jwt", call)));
    return made.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
  };

  test("make no more calls than the rate, whichever function they are", async () => {
    remote.answer = () => ({ json: [] });
    const refused = await callEach();
    expect(remote.requests).toHaveLength(1);
    expect(refused).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining("the provider's rate is used up")),
    );
  });

  test("stop when one of them has found the provider down", async () => {
    remote.answer = () => 503;
    await callEach();
    expect(remote.requests).toHaveLength(1);
    const refused = await callEach();
    expect(remote.requests).toHaveLength(1);
    expect(refused).toEqual(Array.from({ length: 4 }, () => expect.stringContaining("the provider is down")));
  });

  test("leave those that keep the token alive out of it, which neither wait for it nor close it", async () => {
    remote.answer = ({ path }) => (path === "/refresh" ? { json: { token: "next" } } : 503);
    await callEach();
    const refresh = unguardedApi(made.system.dynamodb, { ...settings, requestsPerMinute: 1_000 }, patience);
    const answer = await refresh.send("jwt", { method: "GET", path: "/refresh" });
    expect(answer).toMatchObject({ found: true, text: '{"token":"next"}' });
    expect((await callEach())[0]).toContain("the provider is down");
  });
});
