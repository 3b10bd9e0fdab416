import { CommandError } from "./command-error.ts";

/** Suffixes of AWS's host names, by partition. Source: AWS SDK, "partitions.json". */
const suffixes: ReadonlyMap<string, string> = new Map([
  ["aws", "amazonaws.com"],
  ["aws-cn", "amazonaws.com.cn"],
  ["aws-us-gov", "amazonaws.com"],
  ["aws-iso", "c2s.ic.gov"],
  ["aws-iso-b", "sc2s.sgov.gov"],
  ["aws-iso-e", "cloud.adc-e.uk"],
  ["aws-iso-f", "csp.hci.ic.gov"],
  ["aws-eusc", "amazonaws.eu"],
]);
const regionForm = /^[a-z]{2,4}(-[a-z]+){1,3}-\d{1,2}$/;

export type AwsPlace = { readonly partition: string; readonly region: string; readonly account: string };

/** Whether the environment sets an endpoint for AWS, such as an emulator's or a private one. */
export function hasOwnEndpoint(env: Readonly<Record<string, string | undefined>>): boolean {
  return Object.entries(env).some(
    ([name, value]) => /^AWS_ENDPOINT_URL(_\w+)?$/.test(name) && value !== undefined && value !== "",
  );
}

/** @returns undefined if the text is not an ARN of an existing partition and region */
export function placeOfArn(arn: string): AwsPlace | undefined {
  const [, partition = "", , region = "", account = ""] = arn.split(":");
  return suffixes.has(partition) && regionForm.test(region) ? { partition, region, account } : undefined;
}

/**
 * Whether an address belongs to an AWS service in a place: `sqs`, or any host below `execute-api` and
 * `lambda-url`. Source for the last one: Lambda developer guide, "Creating and managing Lambda function URLs".
 */
export function isOwnAddress(
  address: string,
  service: "sqs" | "execute-api" | "lambda-url",
  { partition, region }: AwsPlace,
): boolean {
  // Refuses characters that the URL parser would skip.
  const url = /^[!-~]+$/.test(address) && !address.includes("\\") ? URL.parse(address) : null;
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.port !== "") return false;
  const host = `${service}.${region}.${service === "lambda-url" ? "on.aws" : suffixes.get(partition)}`;
  const [name = "", ...domain] = url.hostname.split(".");
  return service === "sqs" ? url.hostname === host : /^[a-z0-9]+$/.test(name) && domain.join(".") === host;
}

/**
 * Refuses outputs with addresses outside AWS or the stage's place, because the clients of SQS and S3 send
 * signed requests to whatever address a queue or an access point has.
 * @throws CommandError naming the output
 */
export function checkAddresses(
  outputs: Readonly<Record<string, string>>,
  place: AwsPlace,
  file: string,
): void {
  for (const [name, value] of Object.entries(outputs)) {
    const isQueue = /QueueUrl$/.test(name);
    // In JSON only strings can be addresses; otherwise the whole output is one.
    const isAddress = isQueue || name === "DocumentsUrl";
    const leadsOut = [...(isAddress ? [value] : []), ...textsIn(value)].some((text) => {
      if (/\barn:/i.test(text) && !isOwnArn(text, place, name === "AlarmTopicArn")) return true;
      // Webhooks may have a custom domain; commands that send one check it.
      if (name === "WebhooksUrl") return false;
      // The provider's address, which only the stage's own functions call.
      if (name === "RegistersWith") return false;
      // A function's ARN was checked above, and a name is not an address.
      if (name === "DocumentsUrl")
        return (
          !/^(arn:[^:]+:lambda:|urn:income-events:)/.test(text) && !isOwnAddress(text, "lambda-url", place)
        );
      return (isQueue || text.includes("//")) && !isOwnAddress(text, "sqs", place);
    });
    if (!leadsOut) continue;
    throw CommandError.usage(
      `--outputs ${file} can't be used: ${name} leads out of the stage's account or region ${place.region}. ` +
        "Name an endpoint of your own with AWS_ENDPOINT_URL, or write the file again: npx cdk deploy --outputs-file outputs.json",
    );
  }
}

/**
 * Alarms may use another account's topic. Subscribers' principals may be anywhere, since commands send them
 * nothing.
 */
function isOwnArn(arn: string, { partition, region, account }: AwsPlace, isShared: boolean): boolean {
  const [begin, inPartition, service, inRegion, inAccount] = arn.split(":");
  if (begin === "arn" && service === "iam") return true;
  return (
    begin === "arn" && inPartition === partition && inRegion === region && (isShared || inAccount === account)
  );
}

/** The strings of an output; for JSON, those inside it. */
function textsIn(value: string): readonly string[] {
  const texts: string[] = [];
  try {
    JSON.parse(value, (_, member) => {
      if (typeof member === "string") texts.push(member);
      return member;
    });
    return texts;
  } catch {
    return [value];
  }
}
