import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { createReader } from "@income-events/subscriber";
import { IncomeBook } from "./income-book.ts";

const client = new SQSClient({});
const QueueUrl = process.env.SUBSCRIBER_QUEUE_URL;
const book = new IncomeBook(process.env.INCOME_DATABASE ?? "income.sqlite");
const read = createReader({
  memory: book.memory,
  handle: async (message) => {
    const incomes = await book.handle(message, { credentials: client.config.credentials });
    for (const { user, loanId, month, net, currency } of incomes)
      console.log(`user/${user}`, loanId ?? "-", month, net, currency);
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
