import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { permanent } from "../../domain/core/failures.ts";
import { fieldsOf, optionalText, parseJson } from "../../domain/core/parse.ts";

/**
 * Invokes a function without waiting for its result. The Lambda client is loaded on first use, which is rare.
 * @param event the function's input
 */
export function backgroundInvoker(functionName: string, event: object = {}): () => Promise<void> {
  return async () => {
    const { InvokeCommand, LambdaClient } = await import("#lazy/lambda");
    await new LambdaClient({}).send(
      new InvokeCommand({
        FunctionName: functionName,
        InvocationType: "Event",
        Payload: JSON.stringify(event),
      }),
    );
  };
}

/**
 * Invokes a function by name and waits for it.
 * @returns its result
 * @throws permanent failure with the function's reason if it failed
 */
export async function invokeFunction(client: LambdaClient, name: string, event: object): Promise<unknown> {
  const { FunctionError, Payload } = await client.send(
    new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) }),
  );
  const text = Payload?.transformToString() ?? "null";
  if (FunctionError === undefined) return parseJson(text, "the function's result");
  const { errorMessage } = fieldsOf(parseJson(text, "the function's error"), "the function's error");
  throw permanent(optionalText({ errorMessage }, "errorMessage") ?? "it gave no reason");
}
