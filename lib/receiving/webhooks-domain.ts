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
  /** Gets an alias record; undefined: the record is the operator's to make. */
  readonly hostedZone: route53.IHostedZone | undefined;
  readonly mutualTls?: { readonly truststoreUri: string; readonly truststoreVersion?: string };
};

/** A name of the operator's own for the API. A DNS record leads from it to `target`. */
export class WebhooksDomain extends Construct {
  readonly domainName: apigateway.DomainName;
  /** The origin, without a slash at its end. */
  readonly origin: string;
  /** The host that a DNS record of the name must lead to. */
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
    // Written out, not referred to: a name that is known at synth, and that the local runner can tell.
    this.origin = `https://${name}`;
    this.target = domainName.regionalDomainName;
    if (hostedZone === undefined) return;
    const { regionalDomainName, regionalHostedZoneId } = domainName;
    new route53.ARecord(this, "Record", {
      zone: hostedZone,
      // Ends with a dot: else the zone's name would be put behind it where that is known at deploy time only.
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
