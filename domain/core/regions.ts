/**
 * Regions without function URLs. Source: Lambda developer guide, "Creating and managing Lambda function
 * URLs", November 2026.
 */
const withoutFunctionUrls: readonly string[] = [
  "ap-east-2",
  "ap-south-2",
  "ap-southeast-4",
  "ap-southeast-5",
  "ap-southeast-6",
  "ap-southeast-7",
  "ca-west-1",
  "eu-central-2",
  "eu-south-2",
  "il-central-1",
  "me-central-1",
];

export function hasFunctionUrls(region: string): boolean {
  return !withoutFunctionUrls.includes(region);
}

/**
 * Names a region's partition and what Lambda lacks there, if the pipeline can't run without it. Sources: Getting Started
 * with Amazon Web Services in China, "Amazon Lambda"; GovCloud user guide, "How AWS Lambda differs for AWS GovCloud
 * (US)", 2026.
 */
export function unsupportedPartition(region: string): string | undefined {
  if (region.startsWith("cn-"))
    return (
      "China, where Lambda has no function URLs, no metrics of event sources and no bucket for a stream's failures, " +
      "and X-Ray is missing"
    );
  if (region.startsWith("us-gov-"))
    return "AWS GovCloud (US), where Lambda has no function URLs and no JSON logs";
  return undefined;
}
