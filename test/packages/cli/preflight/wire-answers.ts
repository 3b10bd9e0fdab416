// Answers of AWS's services in their wire formats.

export const root = "arn:aws:iam::123456789012:root";

export const json = (answer: object) => ({ body: JSON.stringify(answer) });

/** Answers of the query protocol, in the formats of each service's API reference. */
export const xml = (action: string, content: string) => ({
  body: `<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`,
});
export const stackXml = (name: string, more: string, outputs: Readonly<Record<string, string>> = {}) => {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return xml(
    "DescribeStacks",
    `<Stacks><member><StackName>${name}</StackName><CreationTime>2026-11-24T00:00:00Z</CreationTime>${more}<Outputs>${members.join("")}</Outputs></member></Stacks>`,
  );
};
export const noStack = {
  status: 400,
  body: "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id income-events-prod does not exist</Message></Error></ErrorResponse>",
};
export const complete = "<StackStatus>CREATE_COMPLETE</StackStatus>";
export const bootstrapped = (version: string) =>
  stackXml("CDKToolkit", complete, { BootstrapVersion: version });

export const allowing = (...services: readonly string[]) =>
  json({
    Policy: JSON.stringify({
      Statement: [
        { Effect: "Allow", Principal: { AWS: root }, Action: "kms:*", Resource: "*" },
        { Effect: "Allow", Principal: { Service: services }, Action: ["kms:*"], Resource: "*" },
        { Effect: "Allow", Principal: { AWS: "arn:aws:iam::210987654321:root" }, Action: "kms:Decrypt" },
      ],
    }),
  });
export const limits = (all: number, unreserved = all) =>
  json({ AccountLimit: { ConcurrentExecutions: all, UnreservedConcurrentExecutions: unreserved } });
export const quotas = (rate: number, burst: number) =>
  json({
    Quotas: [
      { ServiceCode: "apigateway", QuotaName: "Throttle rate", Value: rate },
      { ServiceCode: "apigateway", QuotaName: "Throttle burst rate", Value: burst },
    ],
  });
export const logPolicies = (...policies: readonly object[]) => json({ resourcePolicies: policies });
export const delivery = (policyDocument: string) => ({
  policyName: "AWSLogDeliveryWrite20150319",
  policyDocument,
});
