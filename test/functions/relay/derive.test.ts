import { expect, test } from "vitest";
import { writeChange } from "../../../adapters/streams/change-stream.ts";
import { retryable } from "../../../domain/core/failures.ts";
import { derive, dropErased } from "../../../functions/relay/derive.ts";
import { eventChange, eventOf } from "../../domain/samples.ts";

test("who is erased is never guessed: while that is unknown, no change of the batch has a consequence", async () => {
  const events = [eventOf("account.connected"), eventOf("endpoint.updated", { endpoint: "income" })];
  const records = events.map((event, index) => writeChange(eventChange(event), String(index)));
  const dependencies = {
    findErased: () => Promise.reject(retryable("throttled", 1)),
    erasesOnDeletion: false,
    settings: { source: "urn:test", readByRange: [], documentsUrl: "https://reads.example/" },
    log: () => undefined,
  };
  const steps = await dropErased(derive(records, dependencies), dependencies);
  const failure = { kind: "retryable", reason: "throttled", delayInSeconds: 1 };
  expect(steps).toMatchObject(events.map(() => ({ consequences: [], failure })));
});
