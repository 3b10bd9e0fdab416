import { Duration } from "aws-cdk-lib";
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IWidget,
  PeriodOverride,
  Row,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { pipelineName } from "../instance.ts";
import { type DashboardParts, type DashboardRow, dashboardRows } from "./dashboard-rows.ts";

const columns = 24;

/**
 * One dashboard, in the order of the data's way. CloudFormation names it: the dashboards of all regions of an account share
 * one list of names. Source: CloudFormation template reference, "AWS::CloudWatch::Dashboard".
 */
export class Dashboard extends Construct {
  readonly dashboard: CloudWatchDashboard;

  constructor(scope: Construct, id: string, parts: DashboardParts) {
    super(scope, id);
    const dashboard = new CloudWatchDashboard(this, "Dashboard", {
      defaultInterval: Duration.hours(3),
      periodOverride: PeriodOverride.INHERIT,
    });
    this.dashboard = dashboard;
    const about = `# ${pipelineName(this)}\nFrom the webhook to the subscriber, row by row. When an alarm goes off: \`docs/operate/runbook.md\`.`;
    dashboard.addWidgets(new TextWidget({ markdown: about, width: columns, height: 2 }));
    for (const row of dashboardRows(parts)) dashboard.addWidgets(...widgetsOf(row));
  }
}

function widgetsOf({ heading, text, panels }: DashboardRow): readonly IWidget[] {
  const width = Math.floor(columns / panels.length);
  const graphs = panels.map(
    ({ title, left, right = [] }) =>
      new GraphWidget({ title, left: [...left], right: [...right], width, height: 6, leftYAxis: { min: 0 } }),
  );
  return [
    new TextWidget({ markdown: `## ${heading}\n${text}`, width: columns, height: 2 }),
    new Row(...graphs),
  ];
}
