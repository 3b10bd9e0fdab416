import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { Lending } from "./lending.ts";

const app = new App();
const stage = String(app.node.tryGetContext("stage") ?? "local");
new Lending(app, `lending-${stage}`, { stage, env: { region: "eu-central-1" } });
if (process.env.CDK_VALIDATION !== "false") Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
