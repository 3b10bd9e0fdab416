import { storyChart } from "../../../proof/capacity/simulation-chart.ts";
import { burst, outage, stories } from "./simulations.ts";

export function burstChart(): string {
  const title = `${burst.factor} times ${burst.rate} events a second for ${burst.minutes} minutes`;
  return storyChart(title, stories().burst);
}

export function outageChart(): string {
  const title = `The provider's API is down for ${outage.hours} hours, at ${outage.rate} events a second`;
  return storyChart(title, stories().outage);
}
