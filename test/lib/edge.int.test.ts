import { describe, expect, it } from "vitest";
import { customDomain, nameOf, productionSettings, synthesized } from "./synthesized.ts";

describe("reserved concurrency", () => {
  it("is that of the receivers, each by itself, and of nothing else", () => {
    const stack = synthesized({
      ...productionSettings,
      accountConcurrency: 1_000,
      functions: { receive: { reservedConcurrency: 20 } },
    });
    const reserved = stack
      .ofType("AWS::Lambda::Function")
      .filter(({ Properties }) => Properties.ReservedConcurrentExecutions !== undefined)
      .map(({ id, Properties }) => [nameOf(id), Properties.ReservedConcurrentExecutions]);
    expect(reserved.sort()).toEqual(
      ["Accounts", "CompanyAccounts", "Endpoints", "Users"].map((kind) => [`${kind}ReceiveFunction`, 20]),
    );
  });

  it("is not reserved unless it is set", () => {
    expect(synthesized(productionSettings).text).not.toContain("ReservedConcurrentExecutions");
  });
});

describe("the access log", () => {
  const { Properties } = synthesized(productionSettings).withId("ApiStageAccessLog");
  // arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/ID
  const idOfStack = { "Fn::Select": [2, { "Fn::Split": ["/", { Ref: "AWS::StackId" }] }] };

  it("is in a group that the account's policy admits, under a name that no removed stack has taken", () => {
    expect(Properties.LogGroupName).toEqual({
      "Fn::Join": ["/", ["/aws/vendedlogs/income-events-test", idOfStack]],
    });
  });
});

describe("a custom domain", () => {
  const stack = synthesized({ ...productionSettings, webhooks: { customDomain } });
  const domain = stack.withId("DomainName");

  it("leads to the API's stage, with its certificate and today's TLS", () => {
    expect(domain).toMatchObject({
      Type: "AWS::ApiGatewayV2::DomainName",
      Properties: {
        DomainName: "hooks.example.com",
        DomainNameConfigurations: [
          {
            CertificateArn: customDomain.certificateArn,
            EndpointType: "REGIONAL",
            SecurityPolicy: "TLS_1_2",
          },
        ],
      },
    });
    const [mapping] = stack.ofType("AWS::ApiGatewayV2::ApiMapping");
    expect(mapping?.Properties).toEqual({
      ApiId: { Ref: stack.ofType("AWS::ApiGatewayV2::Api")[0]?.id },
      DomainName: { Ref: domain.id },
      Stage: "$default",
    });
  });

  it("is where webhooks are sent and what is registered; an output says where its DNS record must lead", () => {
    expect(stack.outputs.WebhooksUrl?.Value).toBe("https://hooks.example.com/webhooks");
    expect(stack.withId("RegisterWebhooksFunction").Properties.Environment).toMatchObject({
      Variables: { WEBHOOKS_URL: "https://hooks.example.com/webhooks" },
    });
    expect(stack.outputs.WebhooksDomainTarget?.Value).toEqual({
      "Fn::GetAtt": [domain.id, "RegionalDomainName"],
    });
  });

  it("is the only address: the one that AWS gives the API is off", () => {
    const apiOf = ({ ofType }: typeof stack) => ofType("AWS::ApiGatewayV2::Api")[0]?.Properties;
    expect(apiOf(stack)).toMatchObject({ DisableExecuteApiEndpoint: true });
    expect(apiOf(synthesized(productionSettings))).not.toHaveProperty("DisableExecuteApiEndpoint");
  });

  it("requires a client certificate from the truststore, if one is set", () => {
    const mutualTls = {
      truststoreUri: "s3://trust.example.com/authorities/all.pem",
      truststoreVersion: "v1",
    };
    const webhooks = { customDomain: { ...customDomain, mutualTls } };
    const asking = synthesized({ ...productionSettings, webhooks });
    expect(asking.withId("DomainName").Properties.MutualTlsAuthentication).toEqual({
      TruststoreUri: "s3://trust.example.com/authorities/all.pem",
      TruststoreVersion: "v1",
    });
    expect(domain.Properties).not.toHaveProperty("MutualTlsAuthentication");
  });

  it("exists only if it is set", () => {
    const { outputs, text } = synthesized(productionSettings);
    expect(outputs).not.toHaveProperty("WebhooksDomainTarget");
    expect(text).not.toContain("AWS::ApiGatewayV2::DomainName");
  });
});
