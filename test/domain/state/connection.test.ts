import { describe, expect, it } from "vitest";
import { FailureError } from "../../../domain/core/failures.ts";
import { messageOfState } from "../../../domain/message/message.ts";
import {
  applyProviderAnswer as answer,
  applyEvent as apply,
  applyEvent,
  applyProviderAnswer,
  type Connection,
  connectedIn,
  connectionAfterAnswer,
  parseState,
  type State,
} from "../../../domain/state/state.ts";
import { accountId, applied, applyAll, at, eventOf, minute, userId } from "../samples.ts";

type Given = Parameters<typeof eventOf>[1] & { readonly sentAt: number; readonly receipts?: number };

type Events = readonly (readonly ["connected" | "disconnected" | "updated", Given])[];

/** Applies events of an account, each with the time at which its webhook was sent. */
function stateAfter(events: Events, followsConnections = false): State {
  let state: State | undefined;
  for (const [name, { sentAt: since, receipts = 1, ...more }] of events) {
    const options = { since, givesReasons: true, followsConnections };
    const next = applyEvent(state, eventOf(`account.${name}`, more), receipts, options);
    state = next === undefined ? state : parseState(JSON.parse(JSON.stringify(next)));
  }
  if (state === undefined) throw new Error("no event was applied");
  return state;
}

const told = (state: State | undefined) => {
  const { since, reason } = { ...(state && messageOfState(state, "/s")?.data) } as Record<string, unknown>;
  return [since === undefined ? undefined : Date.parse(String(since)), reason];
};
const connect = ["connected", { sentAt: 1, time: minute(1), reason: "NEW" }] as const;

describe("since when and why an account is connected or is not", () => {
  it.each([
    ["a connection", [connect], [1, "NEW"]],
    [
      "a disconnection",
      [connect, ["disconnected", { sentAt: 2, time: minute(2), reason: "LOCKED" }]],
      [2, "LOCKED"],
    ],
    ["one without a reason", [connect, ["disconnected", { sentAt: 2, time: minute(2) }]], [2, undefined]],
    ["the same again", [connect, ["connected", { sentAt: 3, time: minute(3) }]], [1, "NEW"]],
    ["another reason", [connect, ["updated", { sentAt: 3, connected: true, reason: "OTHER" }]], [1, "OTHER"]],
    [
      "an older event",
      [connect, ["disconnected", { sentAt: 4, time: minute(0), reason: "OLD" }]],
      [1, "NEW"],
    ],
    ["what does not say", [connect, ["updated", { sentAt: 4, reason: "NOT OF IT" }]], [1, "NEW"]],
  ] as const)("%s", (_, events, expected) => {
    expect(told(stateAfter(events))).toEqual(expected);
  });

  it.each([
    ["confirms", false, false, [2, "LOCKED"]],
    ["denies", true, false, [1, "NEW"]],
    ["denies, and readiness begins anew", true, true, [2, "NEW"]],
    ["does not say", undefined, true, [1, "NEW"]],
  ] as const)(
    "waits for the provider's answer if no time orders it: it %s",
    (_, connected, isReady, expected) => {
      const asking = stateAfter([connect, ["disconnected", { sentAt: 2, reason: "LOCKED" }]], isReady);
      expect(told(asking)).toEqual([1, "NEW"]);
      const answer = { found: true, ...(connected !== undefined && { connected }) } as const;
      expect(told(applyProviderAnswer(asking, asking.version, answer, { at }))).toEqual(expected);
    },
  );

  it("is the time of the last event before the provider's answer if no event reported it", () => {
    const asking = stateAfter([
      connect,
      ["disconnected", { sentAt: 2, reason: "LOCKED" }],
      ["connected", { sentAt: 3, eventId: "3", reason: "NEWER" }],
    ]);
    const answer = { found: true, connected: false } as const;
    expect(told(applyProviderAnswer(asking, asking.version, answer, { at }))).toEqual([3, undefined]);
  });

  it("is not known of a user", () => {
    const event = eventOf("user.updated", { userId, kind: "users", connected: true, reason: "NEW" });
    expect(applyEvent(undefined, event, 1, { since: 1, givesReasons: true })?.connection).toBeUndefined();
  });

  it("is in no state and no message if the stage has no readiness and maps no reason", () => {
    const options = { since: 1, followsConnections: false };
    const state = applyEvent(undefined, eventOf("account.connected"), 1, options);
    expect([state?.connection, ...told(state)]).toEqual([undefined, undefined, undefined]);
  });
});

const connected = eventOf("account.connected");
const disconnected = eventOf("account.disconnected");
const deleted = eventOf("account.deleted");
const timed = (type: "connected" | "updated", time: number) =>
  eventOf(`account.${type}`, { time: minute(time) });

describe("a stored state", () => {
  it("is read as it was written", () => {
    const states = [
      applied([timed("connected", 1)]),
      applied([connected, disconnected]),
      answer(applied([deleted]), 1, { found: false }, { at }),
      apply(applied([connected, disconnected]), connected, 2),
      applyAll([eventOf("account.created", { userId, datasourceId: "d" })]),
    ];
    for (const state of states) expect(parseState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  it("is refused if a field is missing or invalid, by its name", () => {
    const stored = applied([connected]);
    const broken: [string, unknown][] = [
      ["state", null],
      ["version", { ...stored, version: "1" }],
      ["processed", { ...stored, processed: undefined }],
      ["latest.cause", { ...stored, latest: { cause: "rumour" } }],
      ["latest.outcome", { ...stored, latest: { ...stored.latest, outcome: "guessed" } }],
      ["at", { ...stored, latest: { cause: "answer" } }],
      ["event.type", { ...stored, latest: { cause: "event", outcome: "applied", event: { kind: "users" } } }],
      ["event.kind", { ...stored, latest: { cause: "event", outcome: "applied", event: { kind: "cats" } } }],
      ["subject.kind", { ...stored, subject: { kind: "cat", id: accountId } }],
      ["id", { ...stored, subject: { kind: "user", id: "" } }],
    ];
    for (const [field, value] of broken) {
      expect(() => parseState(value), field).toThrow(FailureError);
      expect(() => parseState(value), field).toThrow(field);
    }
  });
});

describe("the receipts that a state remembers", () => {
  it("are the last twenty, so that an item never grows without end", () => {
    const events = Array.from({ length: 30 }, (_, index) => timed("connected", index));
    const state = applied(events);
    expect(state.processed).toHaveLength(20);
    for (const event of events.slice(-20)) expect(apply(state, event, 1)).toBeUndefined();
  });
});

it.each([
  [{ connected: true }, true],
  [{ data: { connected: false } }, false],
  [{ connected: true, data: { connected: false } }, true],
  [{ connected: "true" }, undefined],
  [{ data: [{ connected: true }] }, undefined],
  [{}, undefined],
])("the provider's answer %j says whether an account is connected: %s", (answered, isConnected) => {
  expect(connectedIn(answered)).toBe(isConnected);
});

it.each<[string, Connection | undefined, boolean | undefined, Connection | undefined]>([
  ["none is known", undefined, false, undefined],
  [
    "it agrees",
    { since: 1, reason: "A", asked: { since: 2, connected: false, reason: "B" } },
    true,
    { since: 1, reason: "A" },
  ],
  [
    "it contradicts",
    { since: 1, reason: "A", asked: { since: 2, connected: false, reason: "B" } },
    false,
    { since: 2, reason: "B" },
  ],
  [
    "it contradicts what was claimed, too",
    { since: 1, asked: { since: 2, connected: true, reason: "B" } },
    false,
    { since: 2 },
  ],
  ["it contradicts, and no event was asked about", { since: 1, reason: "A" }, false, { since: 1 }],
  [
    "it agrees after an interruption",
    { since: 1, isInterrupted: true, asked: { since: 2 } },
    true,
    { since: 2 },
  ],
  [
    "it says nothing after an interruption",
    { since: 1, isInterrupted: true, asked: { since: 2 } },
    undefined,
    { since: 1 },
  ],
])(
  "the connection of a connected account after the provider's answer, if %s",
  (_, known, connected, expected) => {
    expect(connectionAfterAnswer(known, true, connected)).toEqual(expected);
  },
);
