import { CfnElement, CfnParameter, CfnResource, type Stack } from "aws-cdk-lib";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";

/** Source: Lambda developer guide, "Lambda quotas": all environment variables of a function together. */
const mostBytes = 4_096;

/** The longest that AWS has of each, in all of its partitions. */
const longest: Readonly<Record<string, string>> = {
  "AWS::AccountId": "0".repeat(12),
  "AWS::Partition": "aws-iso-b",
  "AWS::Region": "ap-southeast-1",
  "AWS::URLSuffix": "amazonaws.com.cn",
};
const region = longest["AWS::Region"];
const suffix = longest["AWS::URLSuffix"];
const account = longest["AWS::AccountId"];

/** What CloudFormation puts at the end of a name. */
const random = "x".repeat(13);

/**
 * What stands in a template for a resource, by its type and attribute, where CloudFormation has made the longest name.
 * Sources: the services' limits of names; CloudFormation's template reference, "Return values".
 */
const valuesOfResources: Readonly<Record<string, (generated: (mostCharacters: number) => string) => string>> =
  {
    "AWS::SQS::Queue": (name) => `https://sqs.${region}.${suffix}/${account}/${name(80)}`,
    "AWS::SQS::Queue QueueName": (name) => name(80),
    "AWS::DynamoDB::Table": (name) => name(255),
    "AWS::S3::Bucket": (name) => name(63),
    "AWS::SecretsManager::Secret": (name) =>
      `arn:${longest["AWS::Partition"]}:secretsmanager:${region}:${account}:secret:${name(512)}-xxxxxx`,
    "AWS::Lambda::Function": (name) => name(64),
    "AWS::ApiGatewayV2::Api ApiEndpoint": () => `https://xxxxxxxxxx.execute-api.${region}.${suffix}`,
  };

/**
 * Functions of a stack whose environment could be over what Lambda takes, with the longest names that CloudFormation
 * makes of the stack's and the resources' own. They are known when the stack is deployed, which would fail then.
 */
export function environmentProblems(stack: Stack): string[] {
  const elements = stack.node.findAll().filter((each) => CfnElement.isCfnElement(each));
  const byId = new Map(elements.map((each) => [String(stack.resolve(each.logicalId)), each]));
  const replace = (id: string, attribute?: string) => longestValue(stack, id, attribute, byId.get(id));
  return elements.flatMap((element) => {
    if (!(element instanceof CfnFunction)) return [];
    const { environment } = element;
    const variables: unknown = stack.resolve(environment)?.variables ?? {};
    const bytes = Buffer.byteLength(JSON.stringify(withValues(variables, replace)));
    if (bytes <= mostBytes) return [];
    return [
      `the environment of ${element.node.path} can have ${bytes} bytes, and Lambda takes ${mostBytes}: move what is known ` +
        "at synth to the settings beside its code, or name queues in place of their URLs",
    ];
  });
}

function longestValue(stack: Stack, id: string, attribute?: string, element?: CfnElement): string {
  if (element instanceof CfnParameter) return "x".repeat(element.maxLength ?? mostBytes);
  const type = element instanceof CfnResource ? element.cfnResourceType : id;
  const name = (mostCharacters: number) => `${stack.stackName}-${id}-${random}`.slice(0, mostCharacters);
  const value =
    longest[type] ?? valuesOfResources[attribute === undefined ? type : `${type} ${attribute}`]?.(name);
  if (value === undefined) {
    throw new Error(
      `How long can ${id} ${attribute ?? ""} be in an environment? Say so in environment-size.ts`,
    );
  }
  return value;
}

type Replace = (id: string, attribute?: string) => string;

/** A part of a template with the values of its references and functions. */
function withValues(part: unknown, replace: Replace): unknown {
  if (Array.isArray(part)) return part.map((each) => withValues(each, replace));
  if (typeof part !== "object" || part === null) return part;
  const [[name, value] = ["", undefined], ...others] = Object.entries(part);
  const given = others.length === 0 ? valueOfIntrinsic(name, value, replace) : undefined;
  return (
    given ?? Object.fromEntries(Object.entries(part).map(([key, each]) => [key, withValues(each, replace)]))
  );
}

function valueOfIntrinsic(name: string, value: unknown, replace: Replace): string | undefined {
  if (name === "Ref") return replace(String(value));
  if (!Array.isArray(value)) return undefined;
  const [first, ...others] = value;
  if (name === "Fn::GetAtt") return replace(String(first), others.join("."));
  const texts = withValues(others, replace);
  const parts = Array.isArray(texts) ? texts.flat().map(String) : [];
  if (name === "Fn::Join") return parts.join(String(first));
  if (name === "Fn::If") return parts.reduce((one, other) => (one.length < other.length ? other : one));
  return undefined;
}
