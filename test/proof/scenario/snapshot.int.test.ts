import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { expect, it } from "vitest";
import { readDeadLetters } from "../../../proof/scenario/snapshot.ts";
import { startTestSystem } from "../../support/engines.ts";

it("the snapshot counts a dead letter that another reader holds, such as a run of the archive", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { sqs, access } = cleanup.adopt(await startTestSystem(), ({ close }) => close());
  const create = async (QueueName: string, Attributes = {}) => {
    const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    return QueueUrl;
  };
  const letters = await create("letters");
  const QueueArn = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: letters, AttributeNames: ["QueueArn"] }),
  );
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: QueueArn.Attributes?.QueueArn,
    maxReceiveCount: 5,
  });
  const source = await create("work", { RedrivePolicy });
  for (const id of ["held", "lying"]) {
    await sqs.send(new SendMessageCommand({ QueueUrl: letters, MessageBody: JSON.stringify({ id }) }));
    if (id === "held") await sqs.send(new ReceiveMessageCommand({ QueueUrl: letters, VisibilityTimeout: 1 }));
  }
  expect(await readDeadLetters(access, letters, source)).toEqual([
    { id: "lying", reason: "received 5 times", body: '{"id":"lying"}' },
    { id: "held", reason: "received 5 times", body: '{"id":"held"}' },
  ]);
});
