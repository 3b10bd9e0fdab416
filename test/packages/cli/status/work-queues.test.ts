import { describe, expect, it } from "vitest";
import { subscriberQueues, workQueues } from "../../../../packages/cli/status/work-queues.ts";

const subscriber = (name: string, types?: readonly string[]) => ({
  name,
  ...(types && { types }),
  queueUrl: `https://queue/${name}`,
  deadLetterQueueUrl: `https://dead/${name}`,
});
const subscribers = [subscriber("billing", ["user.*"]), subscriber("risk")];
const deployed = {
  output: (name: string) => (name === "Subscribers" ? JSON.stringify(subscribers) : name),
  optionalOutput: () => undefined,
};

describe("the queues of a stage", () => {
  it("are those of the webhook kinds, of the calls and of the subscribers, in the data's order", () => {
    expect(workQueues(deployed)).toEqual([
      ...[
        ["users", "Users"],
        ["accounts", "Accounts"],
        ["endpoints", "Endpoints"],
        ["company-accounts", "CompanyAccounts"],
        ["fetch", "Fetch"],
        ["checks", "Checks"],
        ["erase", "Erase"],
      ].map(([name, prefix]) => ({
        name,
        queueUrl: `${prefix}QueueUrl`,
        deadLetterQueueUrl: `${prefix}DeadLetterQueueUrl`,
        isOwn: true,
      })),
      {
        name: "subscriber/billing",
        queueUrl: "https://queue/billing",
        deadLetterQueueUrl: "https://dead/billing",
      },
      { name: "subscriber/risk", queueUrl: "https://queue/risk", deadLetterQueueUrl: "https://dead/risk" },
    ]);
  });

  it("include that of deadlines if the stage has one", () => {
    const waiting = { ...deployed, optionalOutput: (name: string) => name };
    expect(workQueues(waiting).map(({ name }) => name)).toContain("deadlines");
  });

  it("contain a subscriber's filter; an output that is incomplete is refused with the field's name", () => {
    expect(subscriberQueues(deployed)).toEqual(subscribers);
    const incomplete = { output: () => JSON.stringify([{ name: "billing" }]) };
    expect(() => subscriberQueues(incomplete)).toThrow("queueUrl");
  });
});
