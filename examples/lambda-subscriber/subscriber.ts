import { ConditionalCheckFailedException, DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { createReader, inMemory, lambdaHandler, type Message, readDocument } from "@income-events/subscriber";

const table = new DynamoDBClient({});

/** Stores what each account earned in its latest pay period, and deletes it when the account is erased. */
const read = createReader({
  memory: inMemory(), // saves work within one environment; the condition below decides across environments
  handle: async (message) => {
    if (message.type === "account.erased") return keep(message, message.data.accountId, undefined);
    if (message.type !== "data.updated" || message.data.endpoint !== "income") return;
    const { accountId } = message.data;
    if (accountId === undefined) return; // a company account's
    const document = await readDocument(message);
    if (document.type === "replaced") return; // the newer version has its own message
    const newest = document.type === "gone" ? undefined : newestOf(document.json("income").data);
    await keep(message, accountId, newest && `${newest.net} ${newest.currency} until ${newest.date_end}`);
  },
});

/** Messages arrive at least once, in any order: the highest sequence wins. */
async function keep({ sequence }: Message, account: string, income: string | undefined): Promise<void> {
  const update = new UpdateItemCommand({
    TableName: process.env.INCOMES,
    Key: { account: { S: account } },
    UpdateExpression:
      income === undefined ? "SET seen = :seen REMOVE income" : "SET seen = :seen, income = :income",
    ConditionExpression: "attribute_not_exists(seen) OR seen < :seen",
    ExpressionAttributeValues: {
      ":seen": { S: sequence },
      ...(income !== undefined && { ":income": { S: income } }),
    },
  });
  await table.send(update).catch((error: unknown) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  });
}

/** The provider does not sort: the period that ends last is the latest. */
export function newestOf<Period extends { readonly date_end: string }>(
  periods: readonly Period[],
): Period | undefined {
  return periods.toSorted((one, other) => one.date_end.localeCompare(other.date_end)).at(-1);
}

/**
 * Logs a failed message. SQS redelivers it, and moves it to the dead-letter queue if it keeps failing. The
 * reason contains no personal data.
 */
export const handler = lambdaHandler(read, (messageId, { reason }) => {
  console.error(JSON.stringify({ messageId, reason }));
});
