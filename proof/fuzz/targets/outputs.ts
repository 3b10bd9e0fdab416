import { CommandError } from "../../../packages/cli/core/command-error.ts";
import { checkAddresses, isOwnAddress, placeOfArn } from "../../../packages/cli/core/own-addresses.ts";
import { must, type Target } from "../target.ts";

const place = { partition: "aws", region: "eu-west-1", account: "123456789012" };

/** What it looks into; a test puts broken ones in their place. */
const sound = { checkAddresses, isOwnAddress, placeOfArn };

/** An output, as a value of a queue's address, of any other name, and of the ARN that says where the stage is. */
function check({ checkAddresses, isOwnAddress, placeOfArn }: typeof sound, input: Uint8Array): void {
  const isTaken = (outputs: Readonly<Record<string, string>>) => doesNotRefuse(checkAddresses, outputs);
  const text = Buffer.from(input).toString("utf8");
  const found = placeOfArn(text);
  must(found === undefined || /^[a-z0-9-]+$/.test(found.region), "a region is part of another address");
  if (isTaken({ UsersQueueUrl: text })) {
    must(new URL(text).hostname === "sqs.eu-west-1.amazonaws.com", "a queue is elsewhere");
    must(new URL(text).protocol === "https:", "a queue is called in the clear");
  }
  const host = URL.parse(text)?.hostname ?? "";
  if (host !== "" && isTaken({ Subscribers: JSON.stringify([{ queueUrl: text }]) }))
    must(host === "sqs.eu-west-1.amazonaws.com" || !text.includes("//"), "a subscriber's queue is elsewhere");
  if (isOwnAddress(text, "execute-api", place))
    must(new URL(text).hostname.endsWith(".execute-api.eu-west-1.amazonaws.com"), "webhooks go elsewhere");
  if (isTaken({ DocumentsUrl: text }))
    must(new URL(text).hostname.endsWith(".lambda-url.eu-west-1.on.aws"), "documents are elsewhere");
}

function doesNotRefuse(check: typeof checkAddresses, outputs: Readonly<Record<string, string>>): boolean {
  try {
    check(outputs, place, "outputs.json");
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** @param broken what is wrong on purpose */
export function outputsTarget(broken: Partial<typeof sound> = {}): Target {
  return { ...described, check: (input) => check({ ...sound, ...broken }, input) };
}

const described = {
  promise: "outputs lead nowhere but to AWS's own addresses in the stage's region",
  seeds: [
    "https://sqs.eu-west-1.amazonaws.com/123456789012/q",
    "https://sqs.eu-west-1.amazonaws.com@evil.example/123456789012/q",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:Token-abc",
    "1",
    "https://abc.execute-api.eu-west-1.amazonaws.com/webhooks",
    "https://abc.lambda-url.eu-west-1.on.aws/",
  ],
  words: ["amazonaws.com", "on.aws", "sqs.", "@", "#", "//", "\\u002f", ":443"],
};

export const target: Target = outputsTarget();
