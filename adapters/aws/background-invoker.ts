/**
 * Invokes a function without waiting for what it does. The client of Lambda is loaded when it is first needed, which
 * is rare.
 */
export function backgroundInvoker(functionName: string): () => Promise<void> {
  return async () => {
    const { InvokeCommand, LambdaClient } = await import("#lazy/lambda");
    await new LambdaClient({}).send(
      new InvokeCommand({ FunctionName: functionName, InvocationType: "Event" }),
    );
  };
}
