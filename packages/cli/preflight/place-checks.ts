import { paginateListServiceQuotas } from "@aws-sdk/client-service-quotas";
import type { PreflightCheck } from "./account.ts";
import type { Finding } from "./finding.ts";

/** Settings that name something of AWS by its ARN, which must be where the stage is. */
export const placeCheck: PreflightCheck = {
  name: "the region of what settings name",
  examine: async ({ account, settings, stage }) => {
    const named = {
      "encryption.keyArn": settings.encryption.keyArn,
      "alarms.topicArn": settings.alarms.topicArn,
      "webhooks.customDomain.certificateArn": settings.webhooks.customDomain?.certificateArn,
    };
    return Object.entries(named).flatMap(([setting, arn]) => {
      const region = arn?.split(":")[3];
      if (region === undefined || region === account.region) return [];
      return [
        {
          what: `${setting} is in ${region}, and the stage would be in ${account.region}.`,
          why: "CloudFormation refuses it: the deployment fails and is rolled back.",
          fix: `correct ${setting} in stages/${stage}.json, or set AWS_REGION to ${region}`,
        },
      ];
    });
  },
};

/** Source: Lambda developer guide, "Creating and managing Lambda function URLs", November 2026. */
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

export const functionUrlCheck: PreflightCheck = {
  name: "whether the region has function URLs",
  examine: async ({ account: { region } }) => {
    if (!withoutFunctionUrls.includes(region)) return [];
    return [
      {
        what: `Lambda has no function URLs in ${region}, and subscribers read documents at one.`,
        why: "CloudFormation refuses it: the deployment fails and is rolled back.",
        fix: "set AWS_REGION to a region that has them",
      },
    ];
  },
};

/** By the names that Service Quotas gives them. */
const throttles = [
  { quota: "Throttle rate", setting: "requestsPerSecond" },
  { quota: "Throttle burst rate", setting: "burst" },
] as const;

export const throttleCheck: PreflightCheck = {
  name: "API Gateway's throttle",
  examine: async ({ account, settings }) => {
    const values = new Map<string, number>();
    const pages = paginateListServiceQuotas({ client: account.quotas }, { ServiceCode: "apigateway" });
    for await (const { Quotas = [] } of pages) {
      for (const { QuotaName = "", Value } of Quotas) if (Value !== undefined) values.set(QuotaName, Value);
    }
    return throttles.flatMap(({ quota, setting }): readonly Finding[] => {
      const value = values.get(quota);
      const own = settings.webhooks.throttle[setting];
      // It leaves out quotas whose value for the account it does not know.
      if (value === undefined) throw new Error(`Service Quotas names no "${quota}"`);
      if (own <= value) return [];
      return [
        {
          what: `webhooks.throttle.${setting} is ${own}, and API Gateway lets ${value} through in all of the account's APIs.`,
          why: "Webhooks beyond it are answered 429 although the stage would take them.",
          fix: `lower webhooks.throttle.${setting}, or ask for more: aws service-quotas list-service-quotas --service-code apigateway`,
        },
      ];
    });
  },
};
