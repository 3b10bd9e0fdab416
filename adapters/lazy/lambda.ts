/** What functions use of Lambda's client, in a file that is loaded when it is first needed. */
export { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
