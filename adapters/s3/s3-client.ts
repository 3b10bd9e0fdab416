import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";

/**
 * An S3 client for functions and commands. If an endpoint is set (here, by a variable such as `AWS_ENDPOINT_URL`, or
 * in AWS's configuration file), the bucket's name is part of the path, since nothing resolves `<bucket>.localhost`.
 * @param S3 the class, which some callers load on first use
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
