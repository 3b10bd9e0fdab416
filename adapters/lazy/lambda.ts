/** The parts of the Lambda client that functions use, loaded on first use. */
export { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
