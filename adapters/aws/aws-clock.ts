import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { isFields } from "../../domain/core/parse.ts";

/** AWS's time, to the second, from the headers of a response. @returns undefined if they contain none */
export async function awsTime(client: SQSClient, queueUrl: string): Promise<Date | undefined> {
  let lastDate: string | undefined;
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["QueueArn"] });
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const headers = isFields(result.response) ? result.response.headers : undefined;
      if (isFields(headers) && typeof headers.date === "string") lastDate = headers.date;
      return result;
    },
    { step: "deserialize", priority: "low" },
  );
  await client.send(command);
  const time = new Date(lastDate ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
