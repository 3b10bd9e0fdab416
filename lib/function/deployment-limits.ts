import { CfnElement, CfnParameter, CfnResource, Stack } from "aws-cdk-lib";
import { CfnRole } from "aws-cdk-lib/aws-iam";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";

/** Limit of all environment variables of a function together. Source: Lambda developer guide, "Lambda quotas". */
const mostEnvironmentBytes = 4_096;
/** Limit of all inline policies of a role, without whitespace. Source: IAM user guide, "IAM and AWS STS quotas". */
const mostPolicyCharacters = 10_240;

/** Limit of the resources of a template. Source: CloudFormation user guide, "Understand CloudFormation quotas". */
const mostResources = 500;

/** The longest value of each pseudo parameter in all AWS partitions. */
const longest: Readonly<Record<string, string>> = {
  "AWS::AccountId": "0".repeat(12),
  "AWS::Partition": "aws-us-gov",
  "AWS::Region": "ap-southeast-1",
  "AWS::URLSuffix": "amazonaws.com.cn",
};
const region = longest["AWS::Region"];
const suffix = longest["AWS::URLSuffix"];
const account = longest["AWS::AccountId"];

/** Length of a topic's ARN with the longest name. */
const longestOfTheApp = 320;

/** Suffix that CloudFormation adds to names. */
const random = "x".repeat(13);

type ValueOf = (name: (mostCharacters: number) => string) => string;

function arn(service: string, most: number, prefix = "", suffix = ""): ValueOf {
  return (name) =>
    `arn:${longest["AWS::Partition"]}:${service}:${region}:${account}:${prefix}${name(most)}${suffix}`;
}

/**
 * Value of a resource's reference or attribute in a template, with the longest name that CloudFormation generates.
 * Sources: the services' limits of names; CloudFormation's template reference, "Return values".
 */
const valuesOfResources: Readonly<Record<string, ValueOf>> = {
  "AWS::SQS::Queue": (name) => `https://sqs.${region}.${suffix}/${account}/${name(80)}`,
  "AWS::SQS::Queue QueueName": (name) => name(80),
  "AWS::SQS::Queue Arn": arn("sqs", 80),
  "AWS::DynamoDB::GlobalTable": (name) => name(255),
  "AWS::DynamoDB::GlobalTable Arn": arn("dynamodb", 255, "table/"),
  "AWS::DynamoDB::GlobalTable StreamArn": arn("dynamodb", 255, "table/", "/stream/2026-11-24T00:00:00.000"),
  "AWS::S3::Bucket": (name) => name(63),
  "AWS::S3::Bucket Arn": (name) => `arn:${longest["AWS::Partition"]}:s3:::${name(63)}`,
  "AWS::SecretsManager::Secret": arn("secretsmanager", 512, "secret:", "-xxxxxx"),
  "AWS::Lambda::Function": (name) => name(64),
  "AWS::Lambda::Url FunctionUrl": () => `https://${"x".repeat(32)}.lambda-url.${region}.on.aws/`,
  "AWS::Lambda::Function Arn": arn("lambda", 64, "function:"),
  "AWS::Logs::LogGroup Arn": arn("logs", 512, "log-group:", ":*"),
  "AWS::ApiGatewayV2::Api": () => "x".repeat(10),
  "AWS::ApiGatewayV2::Api ApiEndpoint": () => `https://xxxxxxxxxx.execute-api.${region}.${suffix}`,
  "AWS::StackId": arn("cloudformation", 128, "stack/", `/${"x".repeat(36)}`),
};

/**
 * Finds what would exceed a limit of AWS and fail the deployment: too many resources, or an environment of a function
 * or policies of a role that are too long with the longest names that CloudFormation generates.
 */
export function deploymentProblems(scope: IConstruct): string[] {
  const stack = Stack.of(scope);
  const elements = scope.node.findAll().filter((each) => CfnElement.isCfnElement(each));
  const byId = new Map(elements.map((each) => [String(stack.resolve(each.logicalId)), each]));
  const replace = (id: string, attribute?: string) => longestValue(stack, id, attribute, byId.get(id));
  const all = stack.node.findAll().filter((each) => CfnResource.isCfnResource(each) && each.stack === stack);
  if (all.length > mostResources) return [resourcesProblem(stack, all.length)];
  const bytesOf = (part: unknown) => Buffer.byteLength(JSON.stringify(withValues(part, replace)));
  return elements.flatMap((element) => {
    if (element instanceof CfnFunction) {
      const bytes = bytesOf(stack.resolve(element.environment)?.variables ?? {});
      return bytes > mostEnvironmentBytes ? [environmentProblem(element, bytes)] : [];
    }
    if (!(element instanceof CfnRole)) return [];
    const policies: readonly unknown[] = stack.resolve(element.policies) ?? [];
    const bytes = policies.reduce<number>((sum, policy) => sum + bytesOf(documentOf(policy)), 0);
    return bytes > mostPolicyCharacters ? [policyProblem(element, bytes)] : [];
  });
}

function documentOf(policy: unknown): unknown {
  return typeof policy === "object" && policy !== null && "policyDocument" in policy
    ? policy.policyDocument
    : {};
}

function resourcesProblem({ node }: Stack, count: number): string {
  return (
    `${node.path || "the stack"} has ${count} resources, and CloudFormation takes ${mostResources} in a stack: give each pipeline ` +
    "a stack of its own, or name fewer subscribers"
  );
}

function environmentProblem({ node }: CfnElement, bytes: number): string {
  return (
    `the environment of ${node.path} can have ${bytes} bytes, and Lambda takes ${mostEnvironmentBytes}: move what is known ` +
    "at synth to the settings beside its code, or name queues in place of their URLs"
  );
}

function policyProblem({ node }: CfnElement, bytes: number): string {
  return (
    `the policies in ${node.path} can have ${bytes} characters, and IAM takes ${mostPolicyCharacters}: allow actions on ` +
    "fewer resources, or in a managed policy"
  );
}

function longestValue(stack: Stack, id: string, attribute?: string, element?: CfnElement): string {
  if (element instanceof CfnParameter) return "x".repeat(element.maxLength ?? mostEnvironmentBytes);
  // A resource of the app outside the pipeline, such as its own key or topic.
  if (element === undefined && longest[id] === undefined) return "x".repeat(longestOfTheApp);
  const type = element instanceof CfnResource ? element.cfnResourceType : id;
  const name = (mostCharacters: number) => `${stack.stackName}-${id}-${random}`.slice(0, mostCharacters);
  const value =
    longest[type] ?? valuesOfResources[attribute === undefined ? type : `${type} ${attribute}`]?.(name);
  if (value === undefined) {
    throw new Error(`How long can ${id} ${attribute ?? ""} be? Say so in lib/function/deployment-limits.ts`);
  }
  return value;
}

type Replace = (id: string, attribute?: string) => string;

/** A part of a template, with references and functions replaced by their values. */
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
