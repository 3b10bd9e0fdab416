import { Stack, Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** A finding of the synth checks that is accepted, and why. */
type Acknowledgement = {
  /** Name of the finding, as `cdk synth` prints it. */
  readonly finding: string;
  /** A full sentence; `acknowledge` refuses anything shorter. */
  readonly reason: string;
};

const sentence = /^[A-Z].{30,}\.$/;

/**
 * Acknowledges a finding on a construct and everything below it.
 * @throws if the reason is not a full sentence
 */
export function acknowledge(scope: IConstruct, { finding, reason }: Acknowledgement): void {
  if (!sentence.test(reason)) {
    throw new Error(`The acknowledgement of ${finding} needs a reason of a sentence, not "${reason}"`);
  }
  Validations.of(scope).acknowledge({ id: finding, reason });
}

/** Acknowledges that a policy below `scope` names `resource`, which ends in a wildcard. */
export function acknowledgeWildcard(scope: IConstruct, resource: string, reason: string): void {
  const finding = `AwsSolutions::AwsSolutions-IAM5[Resource::${nameOf(Stack.of(scope).resolve(resource))}]`;
  acknowledge(scope, { finding, reason });
}

/** Name of a resolved resource in the notation of the check: `<LogicalId.Arn>/objects/*`. */
function nameOf(resource: unknown): string {
  if (typeof resource === "string") return resource;
  if (typeof resource !== "object" || resource === null) throw new TypeError("no resource of a policy");
  if ("Fn::GetAtt" in resource && Array.isArray(resource["Fn::GetAtt"])) {
    return `<${resource["Fn::GetAtt"].join(".")}>`;
  }
  if ("Fn::Join" in resource && Array.isArray(resource["Fn::Join"])) {
    const parts: unknown = resource["Fn::Join"][1];
    if (Array.isArray(parts)) return parts.map(nameOf).join("");
  }
  throw new TypeError(`a wildcard in an unknown form: ${JSON.stringify(resource)}`);
}
