import { describe, expect, it } from "vitest";
import { loggedName } from "../../../../domain/event/subjects.ts";
import { historyIn, refusalsIn, selectHistory } from "../../../../packages/cli/events/event-history.ts";
import type { LogEntry } from "../../../../packages/cli/logs/log-entries.ts";

const entry = (second: number, code: string, fields: object): LogEntry => ({
  timestamp: `2026-03-01T12:00:${String(second).padStart(2, "0")}.000Z`,
  level: "INFO",
  code,
  function: "store/users",
  ...fields,
});

describe("the history of events in the functions' logs", () => {
  it("has each event once, the newest first, as far as it has come", () => {
    const history = historyIn([
      entry(1, "WEBHOOK_ACCEPTED", { kind: "users", correlationId: "one" }),
      entry(2, "WEBHOOK_ACCEPTED", { kind: "users", correlationId: "two" }),
      entry(3, "EVENT_STORED", { kind: "users", correlationIds: ["one", "three"] }),
      entry(4, "WEBHOOK_ACCEPTED", { kind: "users", correlationId: "one" }),
      entry(5, "EVENT_DUPLICATE", { kind: "users", correlationId: "one" }),
      entry(6, "RELAYED", { correlationId: "one" }),
    ]);
    expect(history.map(({ id, at, outcome }) => [id, at.slice(17, 19), outcome])).toEqual([
      ["one", "04", "stored"],
      ["three", "03", "stored"],
      ["two", "02", "accepted"],
    ]);
  });

  it("shows why one was rejected, with the kind from the function if the line has none", () => {
    const history = historyIn([
      entry(1, "WEBHOOK_ACCEPTED", { kind: "users", correlationId: "one" }),
      entry(2, "MESSAGE_REJECTED", { correlationId: "one", reason: "it names nobody" }),
    ]);
    expect(history).toEqual([
      {
        id: "one",
        kind: "users",
        at: "2026-03-01T12:00:01.000Z",
        outcome: "rejected",
        times: 1,
        reason: "it names nobody",
      },
    ]);
  });

  it("tells the types of stored events, and whom they are about, as the line of a batch lists them", () => {
    const account = loggedName({ kind: "account", id: "a" });
    const company = loggedName({ kind: "company-account", id: "b" });
    const history = historyIn([
      entry(1, "WEBHOOK_ACCEPTED", { kind: "endpoints", correlationId: "one" }),
      entry(2, "EVENT_STORED", {
        kind: "endpoints",
        correlationIds: ["two", "one"],
        types: ["endpoint.updated", "endpoint.removed"],
        subjects: [`${account}/income`, company],
      }),
      entry(3, "WEBHOOK_ACCEPTED", { kind: "endpoints", correlationId: "one" }),
    ]);
    expect(history).toMatchObject([
      { id: "one", type: "endpoint.removed", loggedAs: company, times: 2 },
      { id: "two", type: "endpoint.updated", loggedAs: account, endpoint: "income", times: 0 },
    ]);
    const found = (filter: Parameters<typeof selectHistory>[1]) =>
      selectHistory(history, filter).map(({ id }) => id);
    expect(found({})).toEqual(["one", "two"]);
    expect(found({ type: "endpoint.*", outcome: "stored" })).toEqual(["one", "two"]);
    expect(found({ type: "endpoint.updated" })).toEqual(["two"]);
    expect(found({ endpoint: "income" })).toEqual(["two"]);
    expect(found({ text: "company-account/b", kind: "endpoints" })).toEqual(["one"]);
    expect(found({ text: "account/a" })).toEqual(["two"]);
    expect(found({ text: "wo" })).toEqual(["two"]);
    expect(found({ kind: "users" })).toEqual([]);
  });

  it("leaves out what is of no webhook: tasks that were rejected, and lines without an id", () => {
    expect(
      historyIn([
        entry(1, "MESSAGE_REJECTED", { function: "fetch/data", correlationId: "one", reason: "422" }),
        entry(2, "EVENT_STORED", { kind: "users" }),
      ]),
    ).toEqual([]);
  });
});

it("shows events of a list, and none for their webhook, which came when it did", () => {
  const list = { kind: "endpoints", correlationIds: ["a", "b"], webhooks: ["w", "w"] };
  const found = historyIn([
    entry(1, "WEBHOOK_ACCEPTED", { kind: "endpoints", correlationId: "w" }),
    entry(2, "EVENT_STORED", { ...list, types: ["endpoint.updated", "endpoint.updated"] }),
  ]);
  const { timestamp: at } = entry(1, "WEBHOOK_ACCEPTED", {});
  expect(found).toHaveLength(2);
  for (const id of ["a", "b"])
    expect(found).toContainEqual(expect.objectContaining({ id, at, outcome: "stored", times: 1 }));
});

it("shows an event that the settings ignore as ignored", () => {
  const found = historyIn([
    entry(1, "WEBHOOK_ACCEPTED", { kind: "users", correlationId: "p" }),
    entry(2, "EVENT_IGNORED", { kind: "users", correlationIds: ["p"], name: "ping" }),
  ]);
  expect(found).toMatchObject([{ id: "p", outcome: "ignored" }]);
});

it("counts refused webhooks by kind, reason and source, the latest first", () => {
  const refused = (second: number, reason: string, source: string) =>
    entry(second, "WEBHOOK_REFUSED", { kind: "users", reason, source });
  const found = refusalsIn([
    refused(1, "secret", "192.0.2.1"),
    refused(2, "body size", "192.0.2.1"),
    refused(3, "secret", "192.0.2.1"),
    entry(4, "WEBHOOK_ACCEPTED", { kind: "users" }),
    refused(5, "secret", "2001:db8::1"),
  ]);
  const seconds = (time: string) => Number(time.slice(17, 19));
  expect(
    found.map(({ kind, reason, source, count, first, last }) =>
      [kind, reason, source, count, seconds(first), seconds(last)].join(" "),
    ),
  ).toEqual([
    "users secret 2001:db8::1 1 5 5",
    "users secret 192.0.2.1 2 1 3",
    "users body size 192.0.2.1 1 2 2",
  ]);
});
