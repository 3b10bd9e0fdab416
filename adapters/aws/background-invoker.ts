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
