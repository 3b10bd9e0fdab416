import { Stack, Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** A finding of the checks at synth that stands, and why. */
type Acknowledgement = {
  /** As the check names it; see the message of `cdk synth`. */
  readonly finding: string;
  /** A sentence: a test and the synthesis itself refuse anything less. */
  readonly reason: string;
};

const sentence = /^[A-Z].{30,}\.$/;

/**
 * Acknowledges a finding on a construct and all that is below it.
 * @throws where the reason is no sentence: an acknowledgement that says nothing is refused
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

/** A resolved resource as the check writes it: `<LogicalId.Arn>/objects/*`. */
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
