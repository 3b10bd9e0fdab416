import { simulationChart } from "../../../proof/capacity/simulation-chart.ts";
import { burst, outage, simulations } from "./simulations.ts";

export function burstChart(): string {
  const title = `${burst.factor} times ${burst.rate} events a second for ${burst.minutes} minutes`;
  return simulationChart(title, simulations().burst);
}

export function outageChart(): string {
  const title = `The provider's API is down for ${outage.hours} hours, at ${outage.rate} events a second`;
  return simulationChart(title, simulations().outage);
}
