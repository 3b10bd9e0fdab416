import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";

/**
 * A client of S3 for functions and commands. Wherever an endpoint is set (here, by a variable such as
 * `AWS_ENDPOINT_URL`, or in AWS's configuration file), a bucket's name is part of the path: nothing resolves
 * `<bucket>.localhost`.
 * @param S3 the class, which some load only when they need it
 */
export function s3Client(S3: typeof S3Client, settings: S3ClientConfig = {}): S3Client {
  const client = new S3(settings);
  const { config } = client;
  const { endpointProvider } = config;
  config.endpointProvider = (parameters, context) =>
    endpointProvider(
      parameters.Endpoint === undefined ? parameters : { ...parameters, ForcePathStyle: true },
      context,
    );
  return client;
}
