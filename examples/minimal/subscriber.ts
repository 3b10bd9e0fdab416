import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { createReader, inMemory, readDocument } from "@income-events/subscriber";

const client = new SQSClient({});
const QueueUrl = process.env.SUBSCRIBER_QUEUE_URL;
const read = createReader({
  memory: inMemory(), // use your own store if it must outlive the process
  handle: async (message) => {
    console.log(message.type, message.subject);
    if (message.type !== "data.updated" || message.data.endpoint !== "income") return;
    const document = await readDocument(message, { credentials: client.config.credentials });
    if (document.type !== "document") return; // a newer version has its own message, or the person was erased
    for (const { date_end, net, currency } of document.json("income").data)
      console.log(message.subject, date_end, net, currency);
  },
});

for (;;) {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 }),
  );
  for (const { Body, ReceiptHandle } of Messages) {
    const result = await read(Body ?? "");
    if (result.settled) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    else console.error(result.reason); // SQS redelivers the message
  }
}
