import { DescribeResourcePoliciesCommand, type ResourcePolicy } from "@aws-sdk/client-cloudwatch-logs";
import type { PreflightCheck } from "./account.ts";
import type { Finding } from "./finding.ts";

/** Of one policy, in characters, and of an account and region. Source: CloudWatch Logs user guide, "CloudWatch Logs quotas". */
const longest = 5_120;
const mostPolicies = 10;
/** What one more log group adds: its ARN in a list. */
const perLogGroup = 300;

export const logPolicyCheck: PreflightCheck = {
  name: "the log delivery policy",
  examine: async ({ account: { logs } }) => {
    // One page holds all that an account may have.
    const { resourcePolicies = [] } = await logs.send(new DescribeResourcePoliciesCommand({}));
    return checkLogPolicies(resourcePolicies);
  },
};

/** Log groups below /aws/vendedlogs/ are admitted together, by the policy that AWS writes for services' logs. */
function checkLogPolicies(policies: readonly ResourcePolicy[]): readonly Finding[] {
  const delivery = policies.find(({ policyName }) => policyName?.startsWith("AWSLogDeliveryWrite"));
  const why =
    "API Gateway could not write the access log of the webhooks: the deployment fails and is rolled back.";
  if (delivery === undefined) {
    if (policies.length < mostPolicies) return [];
    return [
      {
        what: `CloudWatch Logs has ${policies.length} resource policies in this region, the most that an account may have.`,
        why,
        fix: "aws logs delete-resource-policy --policy-name NAME    of one that nothing uses",
      },
    ];
  }
  const { policyName = "", policyDocument = "" } = delivery;
  const free = longest - policyDocument.length;
  if (free >= perLogGroup || policyDocument.includes("/aws/vendedlogs/*")) return [];
  return [
    {
      what: `The resource policy ${policyName} of CloudWatch Logs has ${free} of ${longest} characters left.`,
      why,
      fix: `aws logs put-resource-policy --policy-name ${policyName} --policy-document FILE    with /aws/vendedlogs/* in the place of single log groups`,
    },
  ];
}
