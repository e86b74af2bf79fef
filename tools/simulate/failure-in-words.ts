import { type Failure } from '../../test/simulation/simulation.js';

/** The lines that show it, and the command that finds the faults of this very story that matter. */
export function failureInWords({ seed, perils, rule, evidence }: Failure): string {
  const flags = perils.dataLoss === true ? ' --data-loss' : '';
  return `seed ${seed} breaks '${rule}':\n${evidence}\n  npm run simulate -- --shrink ${seed}${flags}`;
}
