/**
 * Invokes a function without waiting for what it does. The client of Lambda is loaded when it is first needed, which
 * is rare.
 * @param event what the function gets
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
