import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { billingStack } from "./billing.ts";

const app = new App();
billingStack(app, String(app.node.tryGetContext("stage") ?? "local"));
if (process.env.CDK_VALIDATION !== "false") Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
