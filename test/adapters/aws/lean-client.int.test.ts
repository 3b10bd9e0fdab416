import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, expect, test } from "vitest";
import { leanClient } from "../../../adapters/aws/lean-client.ts";
import { singleSender, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { startTestSystem } from "../../support/engines.ts";

const system = await startTestSystem();
afterAll(() => system.close());

test("requests that a lean client makes at the same time stay apart, one that is refused among them", async () => {
  const client = leanClient(new SQSClient({ ...system.access, maxAttempts: 1 }));
  const queues = await Promise.all(Array.from({ length: 3 }, () => system.createQueue()));
  const sent = queues.map((queue) => Array.from({ length: 20 }, (_, index) => `${queue} ${index}`));
  const senders = [singleSender(client), sqsSender(client)];
  const outcomes = await Promise.all(
    queues.flatMap((queue, place) => [
      ...(sent[place] ?? []).map((body, index) => senders[index % 2]?.(queue, [{ body }])),
      senders[0]?.(`${queue}-that-is-not-there`, [{ body: queue }]),
    ]),
  );
  const failures = outcomes.flatMap((each) => each ?? []);
  expect(failures.filter((failure) => failure === undefined)).toHaveLength(60);
  expect(failures.filter((failure) => failure !== undefined)).toHaveLength(3);
  for (const [place, queue] of queues.entries()) {
    const bodies = (await system.drain(queue)).map(({ Body }) => Body);
    expect(bodies.toSorted()).toEqual(sent[place]?.toSorted());
  }
  client.destroy();
});
