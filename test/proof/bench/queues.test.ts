import { expect, it } from "vitest";
import { billedRequests } from "../../../proof/bench/drive/queues.ts";

it.each([
  [["short"], 1],
  [["a".repeat(65_536)], 1],
  [["a".repeat(65_536), "b"], 2],
  [["é".repeat(65_536)], 2],
  [[], 1],
])("a request to SQS is billed for each 64 KB of its messages: %#", (bodies, requests) => {
  expect(billedRequests(bodies)).toBe(requests);
});
