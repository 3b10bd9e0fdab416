const directory = "./proof/bench/experiments/signed-http";

/** Of the SDK's clients that receivers and consumers start with; that of S3 stays, and is loaded when it is needed. */
export const signedHttp: Readonly<Record<string, string>> = {
  "@aws-sdk/client-dynamodb": `${directory}/dynamodb.ts`,
  "@aws-sdk/client-secrets-manager": `${directory}/secrets-manager.ts`,
  "@aws-sdk/client-sqs": `${directory}/sqs.ts`,
};
