import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import * as acm from "aws-cdk-lib/aws-certificatemanager";
import * as route53 from "aws-cdk-lib/aws-route53";
import { ApiGatewayv2DomainProperties } from "aws-cdk-lib/aws-route53-targets";
import * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import type { WebhooksStage } from "./webhooks-stage.ts";

export type WebhooksDomainProps = {
  readonly api: apigateway.HttpApi;
  readonly apiStage: WebhooksStage;
  readonly name: string;
  readonly certificateArn: string;
  /** Zone for the alias record; undefined: the operator creates the record. */
  readonly hostedZone: route53.IHostedZone | undefined;
  readonly mutualTls?: { readonly truststoreUri: string; readonly truststoreVersion?: string };
};

/** Custom domain name of the API. Its DNS record must point to `target`. */
export class WebhooksDomain extends Construct {
  readonly domainName: apigateway.DomainName;
  /** Origin of the webhook addresses, without a trailing slash. */
  readonly origin: string;
  /** Host that the DNS record must point to. */
  readonly target: string;

  constructor(
    scope: Construct,
    id: string,
    { api, apiStage, name, certificateArn, hostedZone, mutualTls }: WebhooksDomainProps,
  ) {
    super(scope, id);
    const domainName = new apigateway.DomainName(this, "Name", {
      domainName: name,
      certificate: acm.Certificate.fromCertificateArn(this, "Certificate", certificateArn),
      securityPolicy: apigateway.SecurityPolicy.TLS_1_2,
      ...(mutualTls && { mtls: this.#truststore(mutualTls) }),
    });
    new apigateway.ApiMapping(this, "Mapping", { api, domainName, stage: apiStage.stage });
    this.domainName = domainName;
    // A literal, not a reference, so that it is known at synth and to the local runner.
    this.origin = `https://${name}`;
    this.target = domainName.regionalDomainName;
    if (hostedZone === undefined) return;
    const { regionalDomainName, regionalHostedZoneId } = domainName;
    new route53.ARecord(this, "Record", {
      zone: hostedZone,
      // The trailing dot keeps CDK from appending the zone's name if that is known only at deploy time.
      recordName: `${name}.`,
      target: route53.RecordTarget.fromAlias(
        new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId),
      ),
    });
  }

  #truststore({ truststoreUri, truststoreVersion }: NonNullable<WebhooksDomainProps["mutualTls"]>) {
    const { hostname, pathname } = new URL(truststoreUri);
    return {
      bucket: s3.Bucket.fromBucketName(this, "Truststore", hostname),
      key: pathname.slice(1),
      ...(truststoreVersion !== undefined && { version: truststoreVersion }),
    };
  }
}
