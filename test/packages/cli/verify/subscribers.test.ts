import { describe, expect, it } from "vitest";
import { chooseSubscribers } from "../../../../packages/cli/verify/queues.ts";

const queue = (name: string, types?: readonly string[]) => ({
  name,
  queueUrl: `https://sqs.example/${name}`,
  ...(types && { types }),
});
const chosen = (...of: Parameters<typeof chooseSubscribers>) => {
  const { read, left } = chooseSubscribers(...of);
  return { read: read.map(({ name, others }) => `${name}: ${others}`), left };
};

describe("whose queues a run of verify reads", () => {
  const three = [queue("smoke"), queue("billing"), queue("risk")];

  it("is that of the subscriber smoke alone, which it empties", () => {
    const expected = { read: ["smoke: delete"], left: ["billing", "risk"] };
    expect(chosen(three, [], false)).toEqual(expected);
    expect(chosen(three, [], true)).toEqual(expected);
  });

  it("is that of others where they are named, whose messages it releases", () => {
    expect(chosen(three, ["risk"], false)).toEqual({ read: ["risk: release"], left: ["smoke", "billing"] });
  });

  it("is every one on this machine, where none is named smoke", () => {
    expect(chosen(three.slice(1), [], true)).toEqual({
      read: ["billing: release", "risk: release"],
      left: [],
    });
  });

  it("is none in AWS, where none is named: it says how to have one", () => {
    expect(() => chosen(three.slice(1), [], false)).toThrow(/"name": "smoke"[\s\S]*--subscriber billing/);
    expect(() => chosen([], [], true)).toThrow('"name": "smoke"');
  });

  it("is none whose filters take nothing of the run", () => {
    const deaf = [queue("smoke", ["data.updated", "*.confirmed"])];
    expect(() => chosen(deaf, [], false)).toThrow("smoke: no filter takes any of user.created");
  });
});
