import type { Call, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import { expect, it } from "vitest";
import { killEachOnce } from "../../../proof/scenario/kills.ts";

const call = (action: string): Call => ({
  id: 1,
  principal: "work",
  service: "dynamodb",
  action,
  resources: [],
  isFromFunction: true,
  body: Buffer.alloc(0),
});

/** A gateway that is asked what becomes of a call, and a function with so many processes at work. */
function oneFunction() {
  const interceptors = new Set<Interceptor>();
  const work = { processes: 1 };
  const gateway = {
    intercept: (interceptor: Interceptor) => {
      interceptors.add(interceptor);
      return () => interceptors.delete(interceptor);
    },
  };
  const kills = killEachOnce(gateway, [{ principal: "work", kill: () => work.processes }]);
  const after = async (action: string) => {
    const outcomes = await Promise.all([...interceptors].map((each) => each(call(action), "after")));
    return outcomes.find((outcome) => outcome !== undefined);
  };
  return { kills, work, after };
}

it("the scenario kills a function once, after one of its own calls, and withholds the answer", async () => {
  const { kills, after } = oneFunction();
  expect(await after("sqs:ReceiveMessage")).toBeUndefined();
  expect([kills.notKilled(), kills.count()]).toEqual([["work"], 0]);
  expect(await after("dynamodb:PutItem")).toBe("drop");
  expect([kills.notKilled(), kills.count()]).toEqual([[], 1]);
  expect(await after("dynamodb:PutItem")).toBeUndefined();
  expect(kills.count()).toBe(1);
});

it("the scenario goes on where no process of the function is at work any more", async () => {
  const { kills, work, after } = oneFunction();
  work.processes = 0;
  expect(await after("dynamodb:PutItem")).toBeUndefined();
  expect([kills.notKilled(), kills.count()]).toEqual([["work"], 0]);
  work.processes = 1;
  expect(await after("dynamodb:PutItem")).toBe("drop");
  expect([kills.notKilled(), kills.count()]).toEqual([[], 1]);
});
